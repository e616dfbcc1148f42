-- Lets a database role call and read everything that this schema promises, except granting such rights to others.
create or replace function holdfast.grant_admin(role text default 'holdfast_admin') returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform holdfast_internal.grant_access(role, 'admin');
end $$;
