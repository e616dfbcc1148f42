-- Parked runs of a job come back, also in queues that it has left, a bounded number at a time in order of their numbers; those that a key still
-- blocks are parked again by the next claim. A line of a million in one step would meet the deadline of a statement, at every try. Index: runs_parked.
create or replace function holdfast_internal.unpark_job(job integer) returns integer
language plpgsql as $$
declare
  max_rows constant integer := 20000;
  start bigint;
  lanes integer[];
  last bigint;
  freed integer;
begin
  select queue_id || former_queue_ids, coalesce(unpark_from, 0) into lanes, start from holdfast_internal.jobs where id = job;
  with next as materialized (
    select run.id from holdfast_internal.runs as run
    where run.id > start and run.job_id = job and run.due_at = 'infinity' and run.lane_id = any (lanes) and run.claim_id is null
    order by run.id limit max_rows
  ), back as (
    update holdfast_internal.runs as run set due_at = clock_timestamp() from next where run.id = next.id and run.due_at = 'infinity'
  )
  select count(*), max(id) into freed, last from next;
  last := case when freed = max_rows then last end;
  update holdfast_internal.jobs set unpark_from = last where id = job and unpark_from is distinct from last;
  perform holdfast_internal.ring_workers(lane) from unnest(lanes) as lane;
  return freed;
end $$;
