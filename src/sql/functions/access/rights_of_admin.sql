-- What an administrator may call and read: everything that the schema holdfast promises, except granting such rights to others.
-- A role that may call this function has been granted the list: see renew_grants.
create or replace function holdfast_internal.rights_of_admin() returns setof text
language sql stable as $$
  select 'holdfast.' || proname from pg_catalog.pg_proc
  where pronamespace = 'holdfast'::pg_catalog.regnamespace and proname not in ('grant_app', 'grant_monitor', 'grant_admin', 'revoke_access')
  union select 'holdfast.' || relname from pg_catalog.pg_class where relnamespace = 'holdfast'::pg_catalog.regnamespace and relkind = 'v'
  union select holdfast_internal.rights_of_app()
  union select holdfast_internal.rights_of_monitor()
  -- Functions that a view calls are called with its reader's rights.
  union select unnest(array['holdfast_internal.all_bundled_runs', 'holdfast_internal.correlation_of'])
$$;
