-- What is owed along a route, found among the first 10,000 deliveries that are owed where it leads or led: `is_all` is false when there were more than
-- these. There is no index on routes: publishing would pay for it at every delivery. Indexes: deliveries_ready, deliveries_pkey.
create or replace function holdfast_internal.owed_along(route holdfast_internal.routes, out ids bigint[], out is_all boolean)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  max_looked constant integer := 10000;
  lanes integer[] := array_append(array_remove(route.former_lanes, route.lane_id), route.lane_id);
  max_each integer := max_looked / cardinality(lanes);
begin
  if route.former_lanes is null then
    select coalesce(array_agg(owed.id) filter (where owed.route_id = route.id), '{}'), count(*) < max_looked into ids, is_all
    from (select id, route_id from holdfast_internal.deliveries order by id limit max_looked) as owed;
    return;
  end if;
  select coalesce(array_agg(owed.id) filter (where owed.route_id = route.id), '{}'),
         coalesce(max(owed.nth), 0) < max_each into ids, is_all
  from unnest(lanes) as lane cross join lateral (
    select owing.*, row_number() over () as nth from (
      select id, route_id from holdfast_internal.deliveries where lane_id = lane order by priority, id limit max_each
    ) as owing
  ) as owed;
end $$;
