-- Run by `migrate` after functions were created or replaced: PostgreSQL lets every role call a new function, and a function that was dropped and created
-- again has lost its rights. Which roles were granted a list (see rights_of) is known by their right to call it, which follows the role, `drop owned`, and
-- a dump of the database.
create or replace function holdfast_internal.renew_grants() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  command text;
  given record;
begin
  for command in
    select format('revoke execute on function %s from public', pg_proc.oid::regprocedure)
    from pg_proc where pronamespace in ('holdfast'::regnamespace, 'holdfast_internal'::regnamespace)
      and exists (select from aclexplode(coalesce(proacl, acldefault('f', proowner))) as entry where entry.grantee = 0)
  loop
    execute command;
  end loop;
  -- Before there were such rights, every role with usage of the schema could call every function, and needed rights on the tables. Such a role keeps what
  -- it could do: all rights if it can write what nodes write, publishing if it can store messages, monitoring if it can read.
  for given in
    select granted.rolname as role,
           bool_or(relname = 'shard_leases' and privilege = 'UPDATE') as runs_nodes,
           bool_or(relname = 'deliveries' and privilege = 'INSERT') as publishes,
           bool_or(relname = 'endpoints' and privilege = 'SELECT') as looks
    from pg_class cross join lateral (select grantee, privilege_type as privilege from aclexplode(relacl)) as entry
    join pg_roles as granted on granted.oid = entry.grantee
    where relnamespace = 'holdfast_internal'::regnamespace and relname in ('shard_leases', 'deliveries', 'endpoints') and entry.grantee <> relowner
    group by granted.rolname
  loop
    if given.runs_nodes then
      execute format('grant execute on all functions in schema holdfast, holdfast_internal to %I', given.role);
    elsif given.publishes then
      perform holdfast_internal.give_rights(given.role, 'app');
    elsif given.looks then
      perform holdfast_internal.give_rights(given.role, 'monitor');
    end if;
  end loop;
  for given in
    select granted.rolname as role, substr(proname, length('rights_of_') + 1) as kind
    from pg_proc cross join lateral aclexplode(proacl) as entry join pg_roles as granted on granted.oid = entry.grantee
    where pronamespace = 'holdfast_internal'::regnamespace and proname in ('rights_of_app', 'rights_of_monitor', 'rights_of_admin')
      and entry.privilege_type = 'EXECUTE' and entry.grantee <> proowner
  loop
    perform holdfast_internal.give_rights(given.role, given.kind);
  end loop;
end $$;
