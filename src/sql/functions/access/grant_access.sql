-- Grants rights to an existing role, or to the group role of this kind (holdfast_app, holdfast_monitor, holdfast_admin), which is created if missing.
create or replace function holdfast_internal.grant_access(role_name text, kind text) returns void
language plpgsql as $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = role_name) then
    if role_name is distinct from 'holdfast_' || kind then
      raise exception 'there is no role named "%"', role_name
        using errcode = '42704', hint = format('Create it first: create role %I login', coalesce(role_name, '<name>'));
    end if;
    if not (select rolcreaterole or rolsuper from pg_catalog.pg_roles where rolname = current_user) then
      raise exception 'there is no role named "%", and "%" may not create roles', role_name, current_user using errcode = '42704',
        hint = format('Ask an administrator for: create role %I. Or grant the rights to an existing role.', role_name);
    end if;
    execute format('create role %I nologin', role_name);
  end if;
  perform holdfast_internal.give_rights(role_name, kind);
  perform holdfast_internal.audit(current_user, 'role.granted', 'role:' || role_name, jsonb_build_object('rights', kind));
end $$;
