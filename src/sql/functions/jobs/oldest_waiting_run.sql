-- Since when the oldest run of the queue that could run now has waited; null if there is none. Parked runs, runs set aside for jobs that are not
-- active, and runs that are scheduled for later don't count; of fair keys the first 250 do. Indexes: runs_fresh, run_bundles_pkey, runs_due,
-- runs_suspect, runs_targeted, runs_aside, runs_fair.
create or replace function holdfast_internal.oldest_waiting_run(lane integer) returns timestamptz
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  max_keys constant integer := 250;
begin
  return (
    with known as materialized (
      select coalesce(max(newest.cursors), '{0,0,0,0}') as cursors,
             coalesce(max(newest.floors), array_fill('-infinity'::timestamptz, array[4])) as floors
      from (select cursors, floors from holdfast_internal.queue_cursors where lane_id = lane order by seq desc limit 1) as newest
    )
    select min(since) from (
      select holdfast_internal.time_of_id(fresh.id) as since from known cross join generate_series(0, 3) as level cross join lateral (
        select run.id from holdfast_internal.runs as run
        where run.lane_id = lane and run.due_at is null
          and (run.priority, run.id) > (level, known.cursors[level + 1]) and (run.priority, run.id) < (level + 1, 0)
        order by run.priority, run.id limit 1
      ) as fresh
      union all
      select holdfast_internal.time_of_id(greatest(bundle.first_id, known.cursors[level + 1] + 1))
      from known cross join generate_series(0, 3) as level cross join lateral (
        select next.first_id from holdfast_internal.run_bundles as next
        where next.lane_id = lane
          and (next.priority, next.last_id) > (level, known.cursors[level + 1]) and (next.priority, next.last_id) < (level + 1, 0)
        order by next.priority, next.last_id limit 1
      ) as bundle
      union all
      select due.due_at from known cross join generate_series(0, 3) as level cross join lateral (
        select run.due_at from holdfast_internal.runs as run
        where run.lane_id = lane and run.priority = level and run.due_at is not null and run.target is null and run.crashes = 0
          and run.due_at >= known.floors[level + 1] and run.due_at <= now() and run.claim_id is null
        order by run.due_at limit 1
      ) as due
      union all
      (
        select run.due_at from holdfast_internal.runs as run
        where run.lane_id = lane and run.crashes > 0 and run.due_at <= now() and run.claim_id is null order by run.due_at limit 1
      )
      union all
      (
        select run.due_at from holdfast_internal.runs as run
        where run.lane_id = lane and run.target is not null and run.due_at <= now() and run.claim_id is null order by run.due_at limit 1
      )
      union all
      select holdfast_internal.time_of_id(holdfast_internal.oldest_aside(lane))
      union all
      select holdfast_internal.time_of_id(fair.id)
      from unnest(holdfast_internal.fair_turns(lane, null, max_keys)) as turn (key) cross join generate_series(0, 3) as level cross join lateral (
        select run.id from holdfast_internal.runs as run
        where run.lane_id = lane and run.fair_key = turn.key and run.priority = level and run.due_at = 'infinity' and run.claim_id is null and not run.is_aside
        order by run.id limit 1
      ) as fair
    ) as waiting
  );
end $$;
