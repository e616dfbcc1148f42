-- The routes for an event of this kind, before their filters are evaluated. An event with a tenant matches only routes of that tenant.
create or replace function holdfast_internal.matching_routes(wanted_type text, wanted_tenant text) returns setof holdfast_internal.routes
language sql stable as $$
  select route.* from holdfast_internal.routes as route
  where route.enabled and route.exact_type = wanted_type and coalesce(route.tenant, '') = coalesce(wanted_tenant, '')
  union all
  select route.* from holdfast_internal.routes as route
  where route.enabled and route.exact_type is null and coalesce(route.tenant, '') = coalesce(wanted_tenant, '')
    and (
      (wanted_type like route.like_pattern
        and (route.segments is null or route.segments = length(wanted_type) - length(replace(wanted_type, '.', '')) + 1))
      or wanted_type ~ route.regex
    )
$$;
