-- Whether a live worker takes runs of this job from this queue. Workers of an earlier version don't report their jobs and count as having all. Scans
-- all workers.
create or replace function holdfast_internal.handles_job(lane integer, job integer) returns boolean
language plpgsql stable as $$
begin
  return exists (
    select from holdfast_internal.workers where state <> 'stopping' and lane = any (lanes) and (job_ids is null or job = any (job_ids))
  );
end $$;
