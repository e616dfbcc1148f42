-- A page of routes by name, after `after_name`, of one endpoint or of all. Indexes: routes_name_key, or routes_lane.
create or replace function holdfast_internal.route_page(after_name text, max_rows integer, only_endpoint text)
returns setof holdfast_internal.routes
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  lane integer := (select id from holdfast_internal.endpoints where name = only_endpoint);
begin
  if only_endpoint is null then
    return query select * from holdfast_internal.routes as route where route.name > after_name order by route.name limit max_rows;
  else
    return query
    select * from (select * from holdfast_internal.routes as one where one.lane_id = lane offset 0) as route
    where route.name > after_name order by route.name limit max_rows;
  end if;
end $$;
