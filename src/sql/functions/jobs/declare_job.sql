-- Declares jobs as code knows them. Nothing is written when nothing changed, so that every process may do it at its start. A role that only
-- publishes may make a job known, and changes none.
create or replace function holdfast.declare_job(job_name text, job_defaults jsonb) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  job holdfast_internal.jobs;
  lane integer;
  problem text;
begin
  select * into job from holdfast_internal.jobs where name = job_name;
  if found and (job.defaults = job_defaults or not holdfast_internal.is_trusted()) then
    return job.id;
  end if;
  problem := case when coalesce(jsonb_typeof(job_defaults), 'null') <> 'object' then 'its settings must be an object'
    else holdfast_internal.value_problem(job_defaults || jsonb_build_object('name', job_name), holdfast_internal.job_schema(), '') end;
  -- What is stored here is read by the upkeep of all jobs.
  if problem is not null then
    raise exception 'the job is invalid: %', problem using errcode = 'HF032', hint = 'Nothing was stored.';
  end if;
  lane := holdfast_internal.ensure_queue(coalesce(job.overrides ->> 'queue', job_defaults ->> 'queue', 'default'));
  insert into holdfast_internal.jobs (name, queue_id, defaults) values (job_name, lane, job_defaults)
  on conflict (name) do update set
    defaults = job_defaults, queue_id = lane, updated_at = clock_timestamp()
  returning * into job;
  perform holdfast_internal.notify('holdfast_jobs', job_name);
  return job.id;
end $$;
