-- Deliveries that failed for good become dead letters with their whole history; a failed redrive reopens its letter.
create or replace function holdfast_internal.bury_deliveries(records jsonb, owned integer[]) returns integer
language plpgsql as $$
declare
  buried integer;
  ids bigint[];
  lanes_of integer[];
  messages_of bigint[];
  expected_of integer[];
  records_of jsonb[];
begin
  perform holdfast_internal.prepare_ids();
  select array_agg(r.id order by r.id), array_agg((r.record ->> 'lane')::integer order by r.id), array_agg((r.record ->> 'message')::bigint order by r.id),
         array_agg((r.record ->> 'expected')::integer order by r.id), array_agg(r.record order by r.id)
  into ids, lanes_of, messages_of, expected_of, records_of
  from (select (record ->> 'id')::bigint as id, record from jsonb_array_elements(records) as record) as r
  where r.record ->> 'action' = 'dead' and (r.record ->> 'lane')::integer = any (owned);
  if ids is null then
    return 0;
  end if;
  with gone as (
    select * from holdfast_internal.remove_deliveries(ids, lanes_of, messages_of, expected_of)
  ), dead as materialized (
    select gone.id, gone.message_id, gone.lane_id, gone.route_id, gone.criticality, gone.priority, gone.variant, gone.replay_id, gone.ordering_key,
           gone.dead_letter_id, r.attempt, r.reason, r.outcome, r.status, r."errorCode" as error_code, r.error, r.detail,
           coalesce(r."blocksKey", false) as blocks_key,
           (
             select coalesce(jsonb_agg(jsonb_build_object(
               'deliveryId', past.delivery_id, 'attempt', past.attempt, 'at', past.started_at, 'durationMs', past.duration_ms, 'outcome', past.outcome,
               'status', past.status_code, 'isProbe', past.is_probe, 'errorCode', past.error_code, 'error', past.error
             ) order by past.attempt), '[]') from (
               select * from holdfast_internal.attempts as one where one.delivery_id = gone.id order by one.attempt offset 0
             ) as past
           ) as attempts
    from gone cross join lateral holdfast_internal.failure_records(jsonb_build_array(records_of[width_bucket(gone.id, ids)])) as r
  ), reopened as (
    update holdfast_internal.dead_letters as letter set
      state = 'open', settled_at = null, settled_by = null, action = null, reason = dead.reason, outcome = dead.outcome, status_code = dead.status,
      error_code = dead.error_code, error = dead.error, attempt = letter.attempt + dead.attempt,
      attempts = letter.attempts || dead.attempts, request = dead.detail -> 'request'
    from dead
    -- A letter that was resolved meanwhile, by a late success, stays resolved.
    where letter.id = any (array(select dead_letter_id from dead)) and letter.id = dead.dead_letter_id and letter.state = 'redriven' and letter.settled_at is null
    returning letter.id
  )
  insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, route_id, reason, outcome, status_code, error_code, error,
                                     criticality, priority, variant, replay_id, attempt, attempts, request, ordering_key, blocks_key)
  select nextval('holdfast_internal.ids'), dead.id, dead.message_id, dead.lane_id, dead.route_id, dead.reason, dead.outcome, dead.status,
         dead.error_code, dead.error, dead.criticality, dead.priority, dead.variant, dead.replay_id, dead.attempt, dead.attempts, dead.detail -> 'request',
         dead.ordering_key, dead.blocks_key
  from dead
  where dead.dead_letter_id is null or not exists (select from holdfast_internal.dead_letters as kept where kept.id = dead.dead_letter_id)
  on conflict (delivery_id) do nothing;
  get diagnostics buried = row_count;
  return buried;
end $$;
