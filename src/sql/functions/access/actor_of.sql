-- Who is named as having done something. A node says it for its callers; a session that only calls what it was given can't act in another's name: it is
-- called what it logged in as, also when it has put on another role.
create or replace function holdfast_internal.actor_of(claimed text) returns text
language plpgsql stable as $$
begin
  return case when claimed <> current_setting('role') and holdfast_internal.is_trusted() then claimed else session_user end;
end $$;
