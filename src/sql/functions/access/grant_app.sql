-- Lets a database role publish, send and enqueue, from SQL and with the SDK. It reads nothing.
create or replace function holdfast.grant_app(role text default 'holdfast_app') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform holdfast_internal.grant_access(role, 'app');
end $$;
