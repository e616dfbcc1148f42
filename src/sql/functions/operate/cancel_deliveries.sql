-- Ends what is owed along a deleted route (to whichever endpoint it once led) or to a deleted endpoint, visibly.
create or replace function holdfast_internal.cancel_deliveries(lane integer, only_route integer, why text) returns bigint
language plpgsql as $$
declare
  cancelled bigint;
  lanes integer[];
begin
  with ended as (
    -- A scan for a route, which has no index of its own: publishing would pay for it, and deleting is rare.
    delete from holdfast_internal.deliveries where (only_route is null and lane_id = lane) or route_id = only_route
    returning id, message_id, lane_id, route_id, attempt, dead_letter_id
  ), reopened as (
    -- A redrive that was called off leaves its letter as it found it.
    update holdfast_internal.dead_letters set state = 'open', settled_by = null, action = null
    where id in (select dead_letter_id from ended) and state = 'redriven' and settled_at is null
  ), recorded as (
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
    select id, message_id, clock_timestamp(), attempt + 1, 0, lane_id, route_id, 11, 'cancelled', why from ended
    on conflict do nothing
  )
  select count(*), array_agg(distinct lane_id) into cancelled, lanes from ended;
  -- Their owners count anew, and look for keys whose head has gone.
  perform holdfast_internal.tell_nodes('holdfast_lanes', affected || ' recount') from unnest(lanes) as affected;
  return cancelled;
end $$;
