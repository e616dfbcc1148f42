-- The oldest run of the queue that is set aside for an active job; null if there is none. Jobs are found by a skip scan of runs_aside.
create or replace function holdfast_internal.oldest_aside(lane integer) returns bigint
language plpgsql stable as $$
begin
  return (
    with recursive every (job_id) as (
      (
        select run.job_id from holdfast_internal.runs as run
        where run.lane_id = lane and run.is_aside and run.due_at = 'infinity' and run.claim_id is null order by run.job_id limit 1
      )
      union all
      select (
        select run.job_id from holdfast_internal.runs as run
        where run.lane_id = lane and run.job_id > every.job_id and run.is_aside and run.due_at = 'infinity' and run.claim_id is null
        order by run.job_id limit 1
      )
      from every where every.job_id is not null
    )
    select min(first.id) from every cross join generate_series(0, 3) as level cross join lateral (
      select run.id from holdfast_internal.runs as run
      where run.lane_id = lane and run.job_id = every.job_id and run.priority = level and run.is_aside and run.due_at = 'infinity' and run.claim_id is null
      order by run.id limit 1
    ) as first
    where exists (select from holdfast_internal.jobs where id = every.job_id and state = 'active')
  );
end $$;
