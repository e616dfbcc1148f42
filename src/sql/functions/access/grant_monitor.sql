-- Lets a database role read health and metrics. It sees no payload and no secret.
create or replace function holdfast.grant_monitor(role text default 'holdfast_monitor') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform holdfast_internal.grant_access(role, 'monitor');
end $$;
