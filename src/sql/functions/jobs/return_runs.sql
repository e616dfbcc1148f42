-- These runs, which the caller has locked, return to their queues: due now, or ended if their cancellation was requested meanwhile. `crashed`: 1 if they were
-- in flight at a crash. Others of their concurrency keys may start instead, if these have to wait. Index: runs_pkey.
create or replace function holdfast_internal.return_runs(returned bigint[], crashed integer default 0) returns void
language plpgsql as $$
begin
  update holdfast_internal.runs set claim_id = null, due_at = clock_timestamp(), crashes = crashes + crashed where id = any (returned);
  perform holdfast_internal.cancel_returned(returned);
  perform holdfast_internal.free_slots_of(returned);
  perform holdfast_internal.ring_workers(lane_id)
  from (select distinct lane_id from (select lane_id from holdfast_internal.runs where id = any (returned) offset 0) as run) as lane;
end $$;
