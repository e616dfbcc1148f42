-- Revokes all rights in our schemas from a role, including rights on tables that were granted manually.
create or replace function holdfast.revoke_access(role text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from pg_roles where rolname = role) then
    raise exception 'there is no role named "%"', role using errcode = '42704';
  end if;
  execute format('revoke all on all functions in schema holdfast, holdfast_internal from %I', role);
  execute format('revoke all on all tables in schema holdfast, holdfast_internal from %I', role);
  execute format('revoke all on all sequences in schema holdfast, holdfast_internal from %I', role);
  execute format('revoke all on schema holdfast, holdfast_internal from %I', role);
  perform holdfast_internal.audit(current_user, 'role.revoked', 'role:' || role);
end $$;
