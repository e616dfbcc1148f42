-- Grants functions to call, views to read, and usage of the schemas. Everything else in these schemas is accessible to its owner only.
create or replace function holdfast_internal.give_rights(role_name text, kind text) returns void
language plpgsql as $$
declare
  command text;
begin
  execute format('grant usage on schema holdfast, holdfast_internal to %I', role_name);
  for command in
    select format('grant execute on function %s to %I', wanted.oid::regprocedure, role_name)
    from holdfast_internal.rights_of(kind) as name
    join pg_proc as wanted on wanted.proname = split_part(name, '.', 2) and wanted.pronamespace = split_part(name, '.', 1)::regnamespace
    where not holdfast_internal.is_granted(wanted.proacl, role_name, 'EXECUTE')
    union all
    select format('grant select on %s to %I', wanted.oid::regclass, role_name)
    from holdfast_internal.rights_of(kind) as name
    join pg_class as wanted on wanted.relname = split_part(name, '.', 2) and wanted.relnamespace = split_part(name, '.', 1)::regnamespace
    where wanted.relkind = 'v' and not holdfast_internal.is_granted(wanted.relacl, role_name, 'SELECT')
  loop
    execute command;
  end loop;
end $$;
