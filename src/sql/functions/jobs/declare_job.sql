-- Declares a job: creates it with these settings, or changes them. Writes nothing if nothing changed. A job that a live worker declares is not
-- changed, and a role with the rights of an application can't change an existing job.
create or replace function holdfast.declare_job(job_name text, job_defaults jsonb) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  job holdfast_internal.jobs;
  lane integer;
begin
  select * into job from holdfast_internal.jobs where name = job_name;
  if not found then
    return holdfast_internal.introduce_job(job_name, job_defaults);
  end if;
  if job.defaults = job_defaults or not holdfast_internal.is_trusted()
    or exists (select from holdfast_internal.workers where state <> 'stopping' and job.declaration_id = any (declaration_ids)) then
    return job.id;
  end if;
  perform holdfast_internal.check_job(job_name, job_defaults);
  lane := holdfast_internal.ensure_queue(coalesce(job.overrides ->> 'queue', job_defaults ->> 'queue', 'default'));
  update holdfast_internal.jobs set defaults = job_defaults, queue_id = lane, declaration_id = null, updated_at = clock_timestamp() where id = job.id;
  perform holdfast_internal.notify('holdfast_jobs', job_name);
  return job.id;
end $$;
