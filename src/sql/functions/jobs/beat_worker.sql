-- The heartbeat of a worker; returns whether it was declared dead, the counters of its peers, and the runs to cancel. A heartbeat needn't survive
-- a crash of the server, so its commit doesn't wait for the disk.
create or replace function holdfast_internal.beat_worker(me integer, now_running integer)
returns table (is_known boolean, worker_state text, peers jsonb, cancelled jsonb)
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update holdfast_internal.workers set beat = beat + 1, beat_at = clock_timestamp(), running = now_running where incarnation = me
  returning state into worker_state;
  is_known := found;
  peers := holdfast_internal.worker_beats();
  select jsonb_agg(jsonb_build_object('id', run_id, 'reason', reason)) into cancelled
  from holdfast_internal.run_cancellations where worker = me;
  return next;
end $$;
