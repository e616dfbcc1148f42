-- A success for a run that is no longer owed: it resolves the letter that is open for it, also one that its redrive has left, and cancels
-- a redrive that nobody has started.
create or replace function holdfast_internal.settle_late_run_successes(run_ids bigint[]) returns void
language plpgsql as $$
declare
  letters bigint[];
  key_lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
begin
  -- By the message, which a run shares with all of its redrives. Indexes: attempts_pkey, dead_letters_message.
  letters := array(
    select letter.id from holdfast_internal.dead_letters as letter
    where letter.settled_at is null
      and letter.message_id = any (array(select done.message_id from holdfast_internal.attempts as done where done.delivery_id = any (run_ids)))
    order by letter.id for update
  );
  with gone as (
    delete from holdfast_internal.runs as redriven using holdfast_internal.dead_letters as letter
    where letter.id = any (letters) and letter.state = 'redriven'
      and redriven.id = letter.redriven_delivery_id and redriven.attempt = 0 and redriven.due_at is not null and redriven.claim_id is null
    returning redriven.lane_id, redriven.ordering_key, redriven.concurrency_key
  )
  select array_agg(lane_id), array_agg(ordering_key), array_agg(concurrency_key) into key_lanes, ordering_keys, concurrency_keys
  from gone where coalesce(ordering_key, concurrency_key) is not null;
  update holdfast_internal.dead_letters set state = 'resolved', settled_at = clock_timestamp(), settled_by = 'holdfast', action = 'late_success'
  where id = any (letters);
  if key_lanes is not null then
    perform holdfast_internal.free_keys(key_lanes, ordering_keys, concurrency_keys);
  end if;
end $$;
