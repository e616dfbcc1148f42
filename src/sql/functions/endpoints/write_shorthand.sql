-- Makes these the endpoint's shorthand routes. A dropped one is disabled and kept, because it may have pending deliveries, and is deleted by a
-- later change when it has none.
create or replace function holdfast_internal.write_shorthand(endpoint holdfast_internal.endpoints, event_types jsonb) returns void
language plpgsql as $$
declare
  wanted text[] := array(select route.name from holdfast_internal.shorthand_routes(endpoint.name, endpoint.preset, event_types) as route);
  taken text;
begin
  delete from holdfast_internal.routes as route
  where route.lane_id = endpoint.id and is_shorthand and not enabled and route.name <> all (wanted)
    and not exists (select from holdfast_internal.deliveries as owed where owed.lane_id = endpoint.id and owed.route_id = route.id);
  update holdfast_internal.routes as route set enabled = false, updated_at = clock_timestamp(), changed_xid = pg_current_xact_id()
  where route.lane_id = endpoint.id and is_shorthand and enabled and route.name <> all (wanted);
  insert into holdfast_internal.routes as route (name, tenant, event_type, exact_type, like_pattern, segments, regex, criticality, lane_id, is_shorthand)
  select given.name, endpoint.tenant, given.event_type, given.exact_type, given.like_pattern, given.segments, given.regex, given.criticality, endpoint.id, true
  from holdfast_internal.shorthand_routes(endpoint.name, endpoint.preset, event_types) as given
  on conflict (name) do update set tenant = excluded.tenant, enabled = true
  where route.is_shorthand and route.lane_id = excluded.lane_id;
  select route.name into taken from holdfast_internal.routes as route
  where route.name = any (wanted) and not (route.is_shorthand and route.lane_id = endpoint.id) limit 1;
  if found then
    perform holdfast_internal.refuse_endpoint(
      format('a route is named "%s", which one of the eventTypes needs: rename or delete that route, or leave out the event type', taken));
  end if;
end $$;
