-- These runs were held by a worker that is lost (or has lost track of them): each attempt that had begun, as far as known, is recorded as interrupted.
-- It counts as a crash, not against the retry policy. `begun_at`: since when each was running. Returns how many. Index: runs_pkey.
create or replace function holdfast_internal.interrupt_runs(run_ids bigint[], workers integer[], begun_at timestamptz[], why text) returns integer
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  interrupted integer;
begin
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
  select owed.id, coalesce(owed.message_id, owed.id), lost.begun_at, owed.attempt + 1, lost.worker, owed.lane_id, 6, 'interrupted',
         format(why, coalesce('"' || holdfast_internal.worker_name(lost.worker) || '"', lost.worker::text))
  from unnest(run_ids, workers, begun_at) as lost (id, worker, begun_at)
  cross join lateral (select * from holdfast_internal.runs as one where one.id = lost.id limit 1) as owed
  on conflict do nothing;
  get diagnostics interrupted = row_count;
  return interrupted;
end $$;
