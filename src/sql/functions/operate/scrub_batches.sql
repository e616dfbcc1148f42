-- Removes requests and answers that these deliveries share with others, because they were sent in batches, from the attempts and dead letters of all of
-- them. An attempt names the delivery of its batch that lists them all. Indexes: attempts_pkey, dead_letters_message;
-- it scans the stored results of API calls once for each batch, and only while such a request is stored.
create or replace function holdfast_internal.scrub_batches(delivery_ids bigint[]) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  names text[] := array(select holdfast.format_id('dlv', id) from unnest(delivery_ids) as id);
  keepers bigint[] := array(
    select distinct case jsonb_typeof(tried.detail -> 'batch') when 'string' then holdfast.parse_id('dlv', tried.detail ->> 'batch') else tried.delivery_id end
    from holdfast_internal.attempts as tried where tried.delivery_id = any (delivery_ids) and tried.detail ? 'batch'
  );
  shared record;
  members bigint[];
  changed integer;
  total integer := 0;
begin
  for shared in
    select keeper.detail -> 'batch' as listed, keeper.detail -> 'request' as request, keeper.detail #>> '{request,headers,webhook-id}' as batch_id
    from holdfast_internal.attempts as keeper where keeper.delivery_id = any (keepers) and jsonb_typeof(keeper.detail -> 'batch') = 'array' and keeper.detail -> 'batch' ?| names
  loop
    members := array(select holdfast.parse_id('dlv', member) from jsonb_array_elements_text(shared.listed) as member);
    update holdfast_internal.dead_letters as letter set request = null
    where letter.message_id = any (array(select tried.message_id from holdfast_internal.attempts as tried where tried.delivery_id = any (members)))
      and letter.request = shared.request;
    get diagnostics changed = row_count;
    total := total + changed;
    update holdfast_internal.attempts as tried set detail = null
    where tried.delivery_id = any (members) and tried.detail -> 'request' is not distinct from shared.request;
    get diagnostics changed = row_count;
    total := total + changed;
    -- Stored results of API calls that show such an attempt or letter contain the batch's id.
    update holdfast_internal.api_results set body = '{"erased":true}' where strpos(body, shared.batch_id) > 0;
  end loop;
  return total;
end $$;
