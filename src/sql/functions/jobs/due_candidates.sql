-- Runs of a queue that are claimed by other criteria than the cursor's order of ids, and may start now: due runs, runs targeted at this worker, runs
-- that were in flight at a crash, runs set aside for their job, and runs of fair keys. Locks the rows. `in_the_way`: how many more of those that can have
-- ordering keys are read. Indexes: runs_due, runs_targeted, runs_suspect, runs_aside, runs_fair.
create or replace function holdfast_internal.due_candidates(
  lane integer, wanted integer, in_the_way integer, suspect_room integer, may_take_deadly boolean, untakeable integer[], targets text[], floors timestamptz[],
  reset_floor timestamptz, fair_after text, limited integer[], rooms integer[], looked_at timestamptz
) returns setof holdfast_internal.runs
language plpgsql as $$
begin
  return query
  select candidate.* from generate_series(3, 0, -1) as level cross join lateral (
    select run.* from holdfast_internal.runs as run
    where run.lane_id = lane and run.priority = level and run.due_at is not null and run.target is null and run.crashes = 0
      and run.due_at >= least(floors[level + 1], reset_floor) and run.due_at <= looked_at and run.claim_id is null
    order by run.due_at limit wanted + in_the_way for update skip locked
  ) as candidate
  union all
  select candidate.* from unnest(targets) as wanted_target cross join lateral (
    select run.* from holdfast_internal.runs as run
    where run.lane_id = lane and run.target = wanted_target and run.crashes = 0 and run.due_at <= looked_at and run.claim_id is null
      and run.job_id <> all (untakeable)
    order by run.due_at limit wanted + in_the_way for update skip locked
  ) as candidate
  union all
  select candidate.* from unnest(array[false, true]) as is_deadly cross join lateral (
    select run.* from holdfast_internal.runs as run
    where run.lane_id = lane and run.crashes > 0 and (run.crashes > 1) = is_deadly and run.due_at <= looked_at and run.claim_id is null
      and (run.target is null or run.target = any (targets)) and run.job_id <> all (untakeable)
    order by run.priority desc, run.due_at limit case when not is_deadly then suspect_room when may_take_deadly then 1 else 0 end
    for update skip locked
  ) as candidate
  union all
  select * from holdfast_internal.runs_aside(lane, untakeable, limited, rooms, wanted, in_the_way)
  union all
  select * from holdfast_internal.fair_runs(lane, fair_after, wanted,
    array(select each.job from unnest(limited, rooms) as each (job, room) where each.room = 0));
end $$;
