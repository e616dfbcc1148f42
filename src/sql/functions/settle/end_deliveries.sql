-- Endings other than death are recorded where attempts are; one that was never tried leaves a row of its own.
create or replace function holdfast_internal.end_deliveries(me integer, records jsonb, owned integer[]) returns void
language sql as $$
  with ended as (
    delete from holdfast_internal.deliveries as owed using holdfast_internal.failure_records(records) as r
    where owed.id = r.id and owed.lane_id + 0 = r.lane and owed.message_id = r.message and r.action in ('drop', 'expire', 'cancel', 'skip')
      and owed.attempt = r.expected and r.lane = any (owned)
    returning r.*, owed.dead_letter_id
  ), reopened as (
    -- A redrive that couldn't go out leaves its letter as it found it.
    update holdfast_internal.dead_letters set state = 'open', settled_by = null, action = null
    where id in (select dead_letter_id from ended where action <> 'skip') and state = 'redriven' and settled_at is null
  ), settled as (
    -- One that the route skips has met what the route asks for: nothing is left to do about its letter.
    update holdfast_internal.dead_letters set settled_at = clock_timestamp()
    where id in (select dead_letter_id from ended where action = 'skip') and state = 'redriven' and settled_at is null
  )
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
  select ended.id, ended.message, now(), ended.attempt + case when ended."isTried" then 1 else 0 end, me, ended.lane, ended.route,
         case ended.action when 'drop' then 12 when 'expire' then 10 when 'skip' then 13 else 11 end, ended.reason, ended.error
  from ended
  on conflict do nothing
$$;
