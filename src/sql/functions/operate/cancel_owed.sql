-- Ends deliveries that are owed, visibly. One that is out at this moment may still arrive: then that is a fact. Index: deliveries_pkey.
create or replace function holdfast_internal.cancel_owed(delivery_ids bigint[], why text) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  cancelled integer;
  lanes integer[];
begin
  with locked as materialized (
    select id from holdfast_internal.deliveries where id = any (delivery_ids) order by id for update
  ), ended as (
    delete from holdfast_internal.deliveries as owed where owed.id = any (array(select id from locked))
    returning owed.id, owed.message_id, owed.lane_id, owed.route_id, owed.attempt, owed.dead_letter_id
  ), recorded as (
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
    select id, message_id, clock_timestamp(), attempt + 1, 0, lane_id, route_id, 11, 'cancelled', why from ended
    on conflict do nothing
  ), reopened as (
    update holdfast_internal.dead_letters set state = 'open', settled_by = null, action = null
    -- By its key alone, and judged after that: an index that knows the state would be walked from end to end. As an array, so that no plan can
    -- begin with the letters instead, of which there may be a million.
    where id = any (array(
      select letter.id from ended
      cross join lateral (select one.id, one.state, one.settled_at from holdfast_internal.dead_letters as one where one.id = ended.dead_letter_id offset 0) as letter
      where letter.state = 'redriven' and letter.settled_at is null
    ))
  )
  select count(*), array_agg(distinct lane_id) into cancelled, lanes from ended;
  perform holdfast_internal.tell_nodes('holdfast_lanes', lane || ' recount') from unnest(lanes) as lane;
  return cancelled;
end $$;
