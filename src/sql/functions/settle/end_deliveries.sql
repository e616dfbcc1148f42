-- Deliveries that a node ends without delivering them and without a dead letter: dropped, expired, cancelled, skipped by their route. The ending is
-- recorded in attempts, with the number after the attempt that led to it, if there was one.
create or replace function holdfast_internal.end_deliveries(me integer, records jsonb, owned integer[]) returns void
language plpgsql as $$
declare
  ids bigint[];
  lanes_of integer[];
  messages_of bigint[];
  expected_of integer[];
  records_of jsonb[];
  skipped bigint[];
  unsent bigint[];
begin
  select array_agg(r.id order by r.id), array_agg((r.record ->> 'lane')::integer order by r.id), array_agg((r.record ->> 'message')::bigint order by r.id),
         array_agg((r.record ->> 'expected')::integer order by r.id), array_agg(r.record order by r.id)
  into ids, lanes_of, messages_of, expected_of, records_of
  from (select (record ->> 'id')::bigint as id, record from jsonb_array_elements(records) as record) as r
  where r.record ->> 'action' in ('drop', 'expire', 'cancel', 'skip') and (r.record ->> 'lane')::integer = any (owned);
  if ids is null then
    return;
  end if;
  with ended as materialized (
    select removed.dead_letter_id, r.*
    from holdfast_internal.remove_deliveries(ids, lanes_of, messages_of, expected_of) as removed
    cross join lateral holdfast_internal.failure_records(jsonb_build_array(records_of[width_bucket(removed.id, ids)])) as r
  ), recorded as (
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
    select r.id, r.message, now(), r.attempt + case when r."isTried" then 1 else 0 end, me, r.lane, r.route,
           case r.action when 'drop' then 12 when 'expire' then 10 when 'skip' then 13 else 11 end, r.reason, r.error
    from ended as r
    on conflict do nothing
  )
  select array_agg(dead_letter_id) filter (where action = 'skip' and dead_letter_id is not null),
         array_agg(dead_letter_id) filter (where action <> 'skip' and dead_letter_id is not null)
  into skipped, unsent from ended;
  -- A redrive that the route skips needs nothing more: its letter is settled.
  if skipped is not null then
    perform holdfast_internal.settle_redriven(skipped);
  end if;
  if unsent is not null then
    perform holdfast_internal.reopen_letters(unsent);
  end if;
end $$;
