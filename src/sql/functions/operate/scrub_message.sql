-- Removes all copies of a message's payload: the body, its headers, metadata and ordering key, requests and answers of its attempts, and errors, which may quote
-- them, also in its dead letters. Returns whether there was any. Indexes: messages_pkey, messages_kept_pkey, attempts_pkey, dead_letters_message.
create or replace function holdfast_internal.scrub_message(message bigint) returns boolean
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  erased constant text := '[erased]';
  delivery_ids bigint[] := holdfast_internal.deliveries_of(message, 100000);
  letter_ids bigint[] := array(select letter.id from holdfast_internal.dead_letters as letter where letter.message_id = message);
  changed integer;
  total integer := 0;
begin
  update holdfast_internal.messages set body = 'null', headers = null, metadata = null, ordering_key = null, erased_at = clock_timestamp()
  where id = message and erased_at is null;
  get diagnostics changed = row_count;
  total := total + changed;
  update holdfast_internal.messages_kept set body = 'null', headers = null, metadata = null, ordering_key = null, erased_at = clock_timestamp()
  where id = message and erased_at is null;
  get diagnostics changed = row_count;
  total := total + changed;
  total := total + holdfast_internal.scrub_batches(delivery_ids);
  update holdfast_internal.attempts set detail = null, error = case when error is not null then erased end
  where delivery_id = any (delivery_ids) and message_id = message and (detail is not null or error <> erased);
  get diagnostics changed = row_count;
  total := total + changed;
  update holdfast_internal.dead_letters as letter set
    request = null, error = case when letter.error is not null then erased end, ordering_key = null, concurrency_key = null,
    attempts = (select coalesce(jsonb_agg(past || jsonb_build_object('error', case when past ->> 'error' is not null then erased end) order by place), '[]')
                from jsonb_array_elements(letter.attempts) with ordinality as list (past, place))
  where letter.id = any (letter_ids) and (letter.request is not null or letter.error <> erased or letter.ordering_key is not null
                                          or letter.concurrency_key is not null
                                          or exists (select from jsonb_array_elements(letter.attempts) as past where past ->> 'error' <> erased));
  get diagnostics changed = row_count;
  total := total + changed;
  delete from holdfast_internal.run_progress where run_id = any (delivery_ids);
  -- Few rows, or none: results that could not be stored.
  delete from holdfast_internal.quarantine where delivery_id = any (delivery_ids);
  -- Scans the stored results of a day: once when a message is erased, and again only if something of it was stored meanwhile.
  if total > 0 then
    perform holdfast_internal.scrub_results(message, delivery_ids, letter_ids);
  end if;
  return total > 0;
end $$;
