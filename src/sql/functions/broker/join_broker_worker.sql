-- Registers a worker of broker mode. It always counts as asleep, so that enqueueing sends a notification, which the dispatching node receives.
create or replace function holdfast_internal.join_broker_worker(
  worker_name text, worker_version text, worker_host text, worker_pid integer, queue_names text[], worker_tags text[],
  worker_concurrency integer, worker_lease_ms integer
) returns table (incarnation integer, lanes integer[])
language plpgsql as $$
begin
  select joined.incarnation, joined.lanes into incarnation, lanes
  from holdfast_internal.register_worker(worker_name, worker_version, worker_host, worker_pid, queue_names, worker_tags, worker_concurrency, worker_lease_ms) as joined;
  update holdfast_internal.workers as worker set via = 'broker', is_asleep = true where worker.incarnation = join_broker_worker.incarnation;
  return next;
end $$;
