-- The next step of every job that was activated and had more set aside than one step brings back. Index: jobs_unparking.
create or replace function holdfast_internal.unpark_jobs() returns integer
language plpgsql as $$
declare
  job record;
  freed integer := 0;
begin
  for job in select id from holdfast_internal.jobs where unpark_from is not null order by id limit 5 for update skip locked loop
    freed := freed + holdfast_internal.unpark_job(job.id);
  end loop;
  return freed;
end $$;
