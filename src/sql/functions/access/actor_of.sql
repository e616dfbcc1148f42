-- The name recorded as the author of a change. A node passes the name of its caller. A session that only has granted functions can't act in another's name: its
-- author is the role that it logged in as, also after SET ROLE.
create or replace function holdfast_internal.actor_of(claimed text) returns text
language plpgsql stable as $$
begin
  return case when claimed <> current_setting('role') and holdfast_internal.is_trusted() then claimed else session_user end;
end $$;
