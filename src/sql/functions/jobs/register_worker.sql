create or replace function holdfast_internal.register_worker(
  worker_name text, worker_version text, worker_host text, worker_pid integer, queue_names text[], worker_tags text[],
  worker_concurrency integer, worker_lease_ms integer
) returns table (incarnation integer, lanes integer[])
language sql as $$
  select holdfast_internal.prepare_ids();
  insert into holdfast_internal.workers as worker (incarnation, name, version, host, pid, lanes, tags, concurrency, lease_ms)
  select nextval('holdfast_internal.incarnations'), worker_name, worker_version, worker_host, worker_pid,
         array(select holdfast_internal.ensure_queue(name) from unnest(queue_names) with ordinality as given (name, place) order by place),
         worker_tags, worker_concurrency, worker_lease_ms
  returning worker.incarnation, worker.lanes
$$;
