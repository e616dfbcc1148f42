-- Stores which jobs the worker has handlers for; returns their ids. Writes nothing if nothing changed. Indexes: jobs_name_key, workers_pkey.
create or replace function holdfast_internal.set_worker_jobs(me integer, job_names text[]) returns integer[]
language plpgsql as $$
declare
  known constant integer[] := array(select id from holdfast_internal.jobs where name = any (job_names) order by id);
begin
  update holdfast_internal.workers set job_ids = known where incarnation = me and job_ids is distinct from known;
  return known;
end $$;
