-- Heartbeat counters of workers that update them themselves; workers in broker mode are judged by broker_beats.
create or replace function holdfast_internal.worker_beats() returns jsonb
language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('incarnation', incarnation, 'beat', beat, 'leaseMs', lease_ms)), '[]') from holdfast_internal.workers
  where via = 'database'
$$;
