-- Expires runs targeted at one worker (or with their own TTL) that have not started. The row lock decides between this and a concurrent claim.
create or replace function holdfast_internal.expire_targets(max_rows integer, me integer) returns integer
language plpgsql as $$
declare
  chosen bigint[];
  shared bigint[];
begin
  -- Claims take runs with a key without locking them.
  perform holdfast_internal.shut_claims(array(
    select run.lane_id from (
      select lane_id from holdfast_internal.runs where ttl_at <= now() and claim_id is null and due_at is not null order by ttl_at limit max_rows
    ) as run
  ));
  select array_agg(run.id) filter (where run.policy <> 'share'), array_agg(run.id) filter (where run.policy = 'share')
  into chosen, shared from (
    select run.id, coalesce((select job.settings ->> 'onTtl' from holdfast_internal.jobs as job where job.id = run.job_id), 'fail') as policy
    from holdfast_internal.runs as run
    where run.ttl_at <= now() and run.claim_id is null and run.due_at is not null
      -- A run that was returned starts a new TTL, as set by it or its job.
      and ((run.attempt + run.crashes = 0 and (run.due_at < run.ttl_at or run.due_at = 'infinity'))
        or run.due_at <= now() - make_interval(secs => coalesce(
          run.ttl_ms, (select (job.settings ->> 'ttlMs')::double precision from holdfast_internal.jobs as job where job.id = run.job_id),
          holdfast_internal.setting_integer('worker_queue_ttl_ms')) / 1000))
    order by run.ttl_at limit max_rows for update of run skip locked
  ) as run;
  -- No longer targeted: any worker may claim it now.
  update holdfast_internal.runs set target = null, ttl_at = null, ttl_ms = null, due_at = clock_timestamp() where id = any (shared);
  if shared is not null then
    perform holdfast_internal.ring_workers(lane_id) from (select distinct lane_id from holdfast_internal.runs where id = any (shared)) as every;
  end if;
  if chosen is not null then
    perform holdfast_internal.fail_runs(chosen, 'worker_queue_ttl_expired', 'worker_queue_ttl_expired', 'Worker queue TTL expired', me);
  end if;
  return coalesce(cardinality(chosen), 0) + coalesce(cardinality(shared), 0);
end $$;
