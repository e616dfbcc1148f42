-- Fails runs that wait for a worker if their job says so (`onUnhandled: "fail"`): runs of a job that no live worker has had a handler for during the
-- threshold (null: the setting), by every check, and that have waited as long themselves. A worker that joins with the job ends that time
-- (set_worker_jobs_v2), so runs in a backlog that workers serve are never zombies. No index has runs by job: a call reads 200,000, and the next one
-- continues below them (`unhandled_swept_to`), one job after the other. Returns how many runs failed. Indexes: jobs_pkey; see find_runs.
create or replace function holdfast_internal.sweep_unhandled(threshold_ms double precision, max_rows integer, me integer) returns integer
language plpgsql as $$
declare
  max_scanned constant integer := 50000;
  max_steps constant integer := 4;
  waited constant interval := make_interval(secs => coalesce(threshold_ms, holdfast_internal.setting_integer('zombie_threshold_ms')) / 1000);
  lonely holdfast_internal.jobs;
  through integer[] := '{}';
  steps integer := 0;
  reached bigint;
  ids bigint[];
  failed integer := 0;
begin
  perform holdfast_internal.note_unhandled();
  if not exists (select from holdfast_internal.jobs where unhandled_since <= clock_timestamp() - waited and state = 'active' and unhandled_swept_to is distinct from 0) then
    update holdfast_internal.jobs set unhandled_swept_to = null where unhandled_swept_to = 0;
  end if;
  <<every_job>>
  for lonely in
    select * from holdfast_internal.jobs
    where unhandled_since <= clock_timestamp() - waited and state = 'active' and unhandled_swept_to is distinct from 0 order by unhandled_since, id
  loop
    reached := coalesce(lonely.unhandled_swept_to, 9223372036854775807);
    while reached is not null loop
      exit every_job when steps >= max_steps;
      steps := steps + 1;
      select look.ids, look.scanned_to into ids, reached from holdfast_internal.find_runs(
        jsonb_build_object('job', lonely.name, 'state', 'waiting', 'to', clock_timestamp() - waited), reached, max_rows, max_scanned) as look;
      if cardinality(ids) > 0 then
        failed := holdfast_internal.fail_unhandled(lonely, ids, waited, me);
        -- Runs that could not be failed now are found again after all jobs have been checked.
        reached := (select min(id) from unnest(ids) as id);
        exit every_job;
      end if;
    end loop;
    through := through || lonely.id;
  end loop;
  -- After the locks of claims, which fail_unhandled takes: see record_job_failures.
  update holdfast_internal.jobs as job set unhandled_swept_to = case when job.id = any (through) then 0 else reached end
  where job.id = any (through) or job.id = lonely.id;
  return failed;
end $$;
