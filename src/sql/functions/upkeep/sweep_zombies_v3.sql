-- Takes runs from a live worker that has held them for longer than their time-out and the threshold (null: the setting), and so has lost track of
-- them. Runs that it has only claimed, by its record of what is in flight (of 4,096 at most), are returned without counting a crash.
-- `found_runs`: how many runs; `buried`: how many of them became dead letters; `interrupted`: how many attempts were recorded as interrupted;
-- `correlation_ids`: of the first runs.
create or replace function holdfast_internal.sweep_zombies_v3(
  threshold_ms double precision, max_rows integer, me integer, out found_runs integer, out buried integer, out interrupted integer, out correlation_ids text[]
)
language plpgsql as $$
declare
  failed bigint[];
  requeued bigint[];
  unbegun bigint[];
  lost bigint[];
  workers integer[];
  since timestamptz[];
begin
  threshold_ms := coalesce(threshold_ms, holdfast_internal.setting_integer('zombie_threshold_ms'));
  -- Runs of bundles in claims older than the shortest time-out of a job allows get rows, so that each is judged by its own job's time-out below.
  perform holdfast_internal.take_out_of_claims(array(
    select id from holdfast_internal.run_claims
    where bundled <> '{}' and claimed_at < clock_timestamp() - make_interval(secs => (
      threshold_ms + (select min(coalesce((settings ->> 'timeoutMs')::double precision, 3600000)) from holdfast_internal.jobs)) / 1000)
    order by id limit 20
  ));
  select array_agg(zombie.id) filter (where zombie.is_begun and zombie.policy <> 'requeue'),
         array_agg(zombie.id) filter (where zombie.is_begun and zombie.policy = 'requeue'), array_agg(zombie.id) filter (where not zombie.is_begun),
         array_agg(zombie.id) filter (where zombie.is_begun), array_agg(zombie.worker) filter (where zombie.is_begun),
         array_agg(zombie.claimed_at) filter (where zombie.is_begun)
  into failed, requeued, unbegun, lost, workers, since from (
    select held.id, held.policy, old.worker, old.claimed_at,
           exists (
             select from holdfast_internal.in_flight as note
             where note.incarnation = old.worker and (old.id = any (note.ids) or cardinality(note.ids) >= 4096)
           ) or exists (
             select from holdfast_internal.workers as worker where worker.incarnation = old.worker and old.id = any (worker.blocked_runs)
           ) as is_begun
    from (
      select listed.id, claim.id as claim, claim.claimed_at, claim.worker
      from holdfast_internal.run_claims as claim cross join unnest(claim.run_ids) as listed (id)
      where claim.claimed_at < clock_timestamp() - make_interval(secs => threshold_ms / 1000)
      order by listed.id
    ) as old
    cross join lateral (
      select run.id, case when run.crashes + 1 < coalesce((job.settings ->> 'maxCrashes')::integer, 3)
               then coalesce(job.settings ->> 'onZombie', 'fail') else 'fail' end as policy
      from holdfast_internal.runs as run join holdfast_internal.jobs as job on job.id = run.job_id
      where run.id = old.id and (run.due_at is null or run.claim_id = old.claim)
        and old.claimed_at < clock_timestamp() - make_interval(secs => (
          threshold_ms + coalesce((job.settings ->> 'timeoutMs')::double precision, 3600000)) / 1000)
      for update of run skip locked
    ) as held
    limit max_rows
  ) as zombie;
  interrupted := case when lost is null then 0 else holdfast_internal.interrupt_runs(lost, workers, since,
    'Recovered from worker %s, which has held it for longer than its time-out and no longer reports it.') end;
  correlation_ids := holdfast_internal.correlations_of(lost || unbegun);
  if failed is not null then
    -- Removed from the claim first, so that later decisions of its worker are refused.
    update holdfast_internal.runs set claim_id = null, due_at = 'infinity' where id = any (failed);
    perform holdfast_internal.fail_runs(failed, 'zombie', 'zombie_detected', 'Zombie detected', me);
  end if;
  if requeued is not null then
    perform holdfast_internal.return_runs(requeued, 1);
  end if;
  if unbegun is not null then
    perform holdfast_internal.return_runs(unbegun);
  end if;
  found_runs := coalesce(cardinality(lost || unbegun), 0);
  buried := coalesce(cardinality(failed), 0);
end $$;
