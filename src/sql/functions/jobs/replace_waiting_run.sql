-- Ends a waiting run in favour of another one. Returns its due time (infinity: it waits without one), or null if it can't be replaced: a worker holds
-- it, or only claims may change it (it is fresh, has a key, or was in flight at a crash). The row's lock decides between this and a claim; the lock
-- of the queue's claims would stop them until the caller's transaction ends. Index: runs_pkey.
create or replace function holdfast_internal.replace_waiting_run(run_id bigint, new_run bigint) returns timestamptz
language plpgsql as $$
declare
  run holdfast_internal.runs;
begin
  select * into run from holdfast_internal.runs
  where id = run_id and claim_id is null and due_at is not null and ordering_key is null and concurrency_key is null and crashes = 0 for update;
  if not found then
    return null;
  end if;
  perform holdfast_internal.end_runs(array[run_id]);
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
  values (run_id, coalesce(run.message_id, run_id), now(), run.attempt + 1, 0, run.lane_id, 11, 'replaced',
    format('Replaced by %s, which has its unique key.', holdfast.format_id('run', new_run)))
  on conflict do nothing;
  return run.due_at;
end $$;
