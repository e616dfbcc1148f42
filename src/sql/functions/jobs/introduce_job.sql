-- Creates a job if it doesn't exist, for example when its first runs are enqueued before a worker has declared it; these settings apply until a
-- worker declares its own. An existing job is not changed. Index: jobs_name_key.
create or replace function holdfast_internal.introduce_job(job_name text, job_settings jsonb) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  known integer := (select id from holdfast_internal.jobs where name = job_name);
begin
  if known is not null then
    return known;
  end if;
  perform holdfast_internal.check_job(job_name, job_settings);
  insert into holdfast_internal.jobs (name, queue_id, defaults)
  values (job_name, holdfast_internal.ensure_queue(coalesce(job_settings ->> 'queue', 'default')), job_settings)
  on conflict (name) do nothing returning id into known;
  if known is null then
    return (select id from holdfast_internal.jobs where name = job_name);
  end if;
  perform holdfast_internal.notify('holdfast_jobs', job_name);
  return known;
end $$;
