-- Says that this worker lives; returns whether somebody declared it dead, what its peers' counters stand at, and what to cancel. A beat needn't survive
-- the server: nobody waits for the disk because of it.
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
