-- Runs that are set aside for their job and may be taken now, with row locks: of every such job the first runs of each priority. Jobs are found by a
-- skip scan of runs_aside. Of a job with limits of its own (`limited`), as many runs as they allow (`rooms`), and one more, which shows that more
-- wait. `in_the_way`: how many more are read.
create or replace function holdfast_internal.runs_aside(
  lane integer, untakeable integer[], limited integer[], rooms integer[], max_rows integer, in_the_way integer
) returns setof holdfast_internal.runs
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
    order by run.id limit least(max_rows, rooms[array_position(limited, every.job_id)] + 1) + in_the_way for update skip locked
  ) as candidate
  where every.job_id <> all (untakeable);
end $$;
