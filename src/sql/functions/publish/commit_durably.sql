-- Acceptance, claims and results are reported only once they are on the disk, whatever the session's synchronous_commit is: the transaction
-- waits for the flush. Other values (local, remote_apply) are the operator's choice of where, and are kept.
create or replace function holdfast_internal.commit_durably() returns void
language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end $$;
