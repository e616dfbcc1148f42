-- Lets a database role call and read all that this schema promises, but for giving such rights to others.
create or replace function holdfast.grant_admin(role text default 'holdfast_admin') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform holdfast_internal.grant_access(role, 'admin');
end $$;
