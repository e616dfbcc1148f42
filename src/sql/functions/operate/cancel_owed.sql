-- Cancels pending deliveries and records it. One that is in flight may still be delivered, and is recorded as such then. Index: deliveries_pkey.
create or replace function holdfast_internal.cancel_owed(delivery_ids bigint[], why text) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  cancelled integer;
  lanes integer[];
  letters bigint[];
begin
  with ended as materialized (
    select * from holdfast_internal.remove_deliveries(array(select distinct id from unnest(delivery_ids) as id order by id))
  ), recorded as (
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
    select id, message_id, clock_timestamp(), attempt + 1, 0, lane_id, route_id, 11, 'cancelled', why from ended
    on conflict do nothing
  )
  select count(*), array_agg(distinct lane_id), array_agg(dead_letter_id) filter (where dead_letter_id is not null) into cancelled, lanes, letters from ended;
  if letters is not null then
    perform holdfast_internal.reopen_letters(letters);
  end if;
  -- The owners of these lanes count again, and read ordering keys whose first delivery has been removed.
  perform holdfast_internal.tell_nodes('holdfast_lanes', lane || ' recount') from unnest(lanes) as lane;
  return cancelled;
end $$;
