-- Pending deliveries of a route, found among the first 10,000 pending deliveries of the endpoints it leads or led to: `is_all` is false if there were more than
-- these. There is no index on routes: it would slow down every publish. Indexes: deliveries_ready, deliveries_pkey.
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
