-- Endings other than death are recorded where attempts are; one that was never tried leaves a row of its own. Looked up in arrays and not joined: see
-- remove_delivered.
create or replace function holdfast_internal.end_deliveries(me integer, records jsonb, owned integer[]) returns void
language plpgsql as $$
declare
  ids bigint[];
  records_of jsonb[];
begin
  select array_agg((record ->> 'id')::bigint order by (record ->> 'id')::bigint), array_agg(record order by (record ->> 'id')::bigint) into ids, records_of
  from jsonb_array_elements(records) as record where record ->> 'action' in ('drop', 'expire', 'cancel', 'skip') and (record ->> 'lane')::integer = any (owned);
  with ended as (
    delete from holdfast_internal.deliveries as owed
    where owed.id = any (ids) and owed.lane_id is not distinct from (records_of[width_bucket(owed.id, ids)] ->> 'lane')::integer
      and owed.message_id = (records_of[width_bucket(owed.id, ids)] ->> 'message')::bigint
      and owed.attempt = (records_of[width_bucket(owed.id, ids)] ->> 'expected')::integer
    returning owed.id, owed.dead_letter_id, records_of[width_bucket(owed.id, ids)] ->> 'action' as action
  ), reopened as (
    -- A redrive that couldn't go out leaves its letter as it found it.
    update holdfast_internal.dead_letters set state = 'open', settled_by = null, action = null
    where id = any (array(select dead_letter_id from ended where action <> 'skip')) and state = 'redriven' and settled_at is null
  ), settled as (
    -- One that the route skips has met what the route asks for: nothing is left to do about its letter.
    update holdfast_internal.dead_letters set settled_at = clock_timestamp()
    where id = any (array(select dead_letter_id from ended where action = 'skip')) and state = 'redriven' and settled_at is null
  )
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
  select r.id, r.message, now(), r.attempt + case when r."isTried" then 1 else 0 end, me, r.lane, r.route,
         case r.action when 'drop' then 12 when 'expire' then 10 when 'skip' then 13 else 11 end, r.reason, r.error
  from ended cross join lateral holdfast_internal.failure_records(jsonb_build_array(records_of[width_bucket(ended.id, ids)])) as r
  on conflict do nothing;
end $$;
