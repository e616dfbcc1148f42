-- Whether the session could itself write what only nodes write, so that its claims are accepted too: that a payload was validated, who made a change.
-- Inside a security definer function current_user is the owner; SET ROLE and the session user tell the caller.
create or replace function holdfast_internal.is_trusted() returns boolean
language plpgsql stable as $$
begin
  return has_table_privilege(
    case current_setting('role') when 'none' then session_user else current_setting('role')::name end, 'holdfast_internal.nodes'::regclass, 'insert');
end $$;
