-- Called by nodes of earlier versions when a route or an endpoint is deleted; cancel_lane has taken its place. Reads the whole table for a route, which has no index.
create or replace function holdfast_internal.cancel_deliveries(lane integer, only_route integer, why text) returns bigint
language sql as $$
  select holdfast_internal.cancel_owed(array(
    select id from holdfast_internal.deliveries where (only_route is null and lane_id = lane) or route_id = only_route
  ), why)
$$;
