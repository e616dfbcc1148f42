-- The health of one endpoint, or of all in the order of their names.
create or replace function holdfast.endpoint_health(endpoint_name text default null)
returns table (
  endpoint text, state text, reason text, circuit text, failures integer, opened_at timestamptz, probe_at timestamptz,
  held_until timestamptz, pending bigint, in_flight integer, oldest_due_at timestamptz, dead_letters bigint
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  lane integer;
begin
  if endpoint_name is not null then
    return query
    select health.* from holdfast_internal.health_of((select known.id from holdfast_internal.endpoints as known where known.name = endpoint_name)) as health;
  else
    for lane in select known.id from holdfast_internal.endpoints as known order by known.name loop
      return query select health.* from holdfast_internal.health_of(lane) as health;
    end loop;
  end if;
end $$;
