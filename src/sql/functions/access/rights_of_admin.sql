-- What an administrator may call and read: all that the schema holdfast promises, but for giving such rights to others.
-- Who may call this list has been given what is in it: see renew_grants.
create or replace function holdfast_internal.rights_of_admin() returns setof text
language sql stable as $$
  select 'holdfast.' || proname from pg_catalog.pg_proc
  where pronamespace = 'holdfast'::pg_catalog.regnamespace and proname not in ('grant_app', 'grant_monitor', 'grant_admin', 'revoke_access')
  union select 'holdfast.' || relname from pg_catalog.pg_class where relnamespace = 'holdfast'::pg_catalog.regnamespace and relkind = 'v'
  union select holdfast_internal.rights_of_app()
  union select holdfast_internal.rights_of_monitor()
  -- What a view calls is called in its reader's name.
  union select unnest(array['holdfast_internal.all_bundled_runs', 'holdfast_internal.correlation_of'])
$$;
