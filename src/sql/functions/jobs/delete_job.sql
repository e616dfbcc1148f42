-- Deletes a job and its schedules. Refused while the job has unfinished runs: no index has runs by job, so the unfinished runs of its queues are
-- searched, newest first, until one is found. The history of its runs stays. A run that is enqueued at the same moment becomes a dead letter when a
-- worker claims it.
create or replace function holdfast_internal.delete_job(job_name text, actor text default current_user) returns void
language plpgsql as $$
declare
  max_scanned constant integer := 50000;
  job holdfast_internal.jobs;
  reached bigint := 9223372036854775807;
  owed bigint[];
begin
  select * into job from holdfast_internal.jobs where name = job_name for update;
  if not found then
    raise exception 'there is no job named "%"', job_name using errcode = 'HF030', hint = 'List them with: holdfast jobs list';
  end if;
  while reached is not null loop
    select found.ids, found.scanned_to into owed, reached
    from holdfast_internal.find_runs(jsonb_build_object('job', job_name, 'state', 'owed'), reached, 1, max_scanned) as found;
    if cardinality(owed) > 0 then
      raise exception 'job "%" still has unfinished runs, for example %', job_name, holdfast.format_id('run', owed[1])
        using errcode = 'HF006', hint = format('Let them end, or cancel them first: holdfast runs cancel --job %s.', job_name);
    end if;
  end loop;
  delete from holdfast_internal.schedules where job_id = job.id;
  delete from holdfast_internal.jobs where id = job.id;
  perform holdfast_internal.audit(actor, 'job.deleted', 'job:' || job_name, jsonb_build_object('settings', job.settings));
  perform holdfast_internal.notify('holdfast_jobs', '');
end $$;
