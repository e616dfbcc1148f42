-- What is accepted, claimed or settled is reported only once it is on the disk, whatever the session's synchronous_commit says: its transaction
-- waits for the flush like any other. Other values (local, remote_apply) are the operator's choice of where, and stay.
create or replace function holdfast_internal.commit_durably() returns void
language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end $$;
