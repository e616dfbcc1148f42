-- A route's settings as stored in the audit log.
create or replace function holdfast_internal.route_view(route holdfast_internal.routes) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'tenant', route.tenant, 'eventType', route.event_type, 'filter', route.filter_text, 'transform', route.transform #- '{actor,key,sealed}',
    'criticality', route.criticality, 'enabled', route.enabled, 'endpoint', (select name from holdfast_internal.endpoints where id = route.lane_id)
  ) where route.name is not null
$$;
