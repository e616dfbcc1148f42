-- Runs that wait aside for their job and may be taken now, locked: of every such job the first of each priority. Jobs are found by skipping from one to the next
-- in runs_aside. Of a job with limits of its own (`limited`) come as many as they allow (`rooms`), and one more, which shows that there is more.
create or replace function holdfast_internal.runs_aside(lane integer, untakeable integer[], limited integer[], rooms integer[], max_rows integer) returns setof holdfast_internal.runs
language plpgsql as $$
begin
  return query
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
  select candidate.* from every cross join generate_series(3, 0, -1) as level cross join lateral (
    select run.* from holdfast_internal.runs as run
    where run.lane_id = lane and run.job_id = every.job_id and run.priority = level and run.is_aside and run.due_at = 'infinity' and run.claim_id is null
    order by run.id limit least(max_rows, rooms[array_position(limited, every.job_id)] + 1) for update skip locked
  ) as candidate
  where every.job_id <> all (untakeable);
end $$;
