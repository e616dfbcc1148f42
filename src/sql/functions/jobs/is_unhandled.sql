-- Whether job and queue are active and no live worker takes runs of this job from this queue. Indexes: jobs_name_key, queues_name_key.
create or replace function holdfast_internal.is_unhandled(job_name text, queue_name text) returns boolean
language plpgsql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  job constant integer := (select id from holdfast_internal.jobs where name = job_name and state = 'active');
  lane constant integer := (select id from holdfast_internal.queues where name = queue_name and state = 'active');
begin
  return job is not null and lane is not null and not holdfast_internal.handles_job(lane, job);
end $$;
