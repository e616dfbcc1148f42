-- Makes deliveries due that wait for their time. Index: deliveries_pkey.
create or replace function holdfast_internal.hurry_deliveries(delivery_ids bigint[]) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  hurried integer;
  lanes integer[];
begin
  with locked as materialized (
    select id from holdfast_internal.deliveries where id = any (delivery_ids) and due_at > now() order by id for update
  ), moved as (
    update holdfast_internal.deliveries as owed set due_at = now() where owed.id = any (array(select id from locked)) returning owed.lane_id
  )
  select count(*), array_agg(distinct lane_id) into hurried, lanes from moved;
  perform holdfast_internal.tell_nodes('holdfast_lanes', lane || ' due') from unnest(lanes) as lane;
  return hurried;
end $$;
