-- Whether the session could write by itself what only nodes write, so that it may also say what only they may: that a payload was checked, who did something.
-- Inside a function that runs with its owner's rights current_user is the owner; SET ROLE and the session say who calls.
create or replace function holdfast_internal.is_trusted() returns boolean
language plpgsql stable as $$
begin
  return has_table_privilege(
    case current_setting('role') when 'none' then session_user else current_setting('role')::name end, 'holdfast_internal.nodes'::regclass, 'insert');
end $$;
