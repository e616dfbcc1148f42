-- What monitors ask about queues.

-- Since when the oldest run of the queue that could run now has waited; null when none does. Parked runs, and those that are scheduled for
-- later, don't count. Indexes: runs_fresh, run_bundles_pkey, runs_due, runs_suspect, runs_targeted.
create function holdfast.oldest_waiting_run(lane integer) returns timestamptz
language sql stable as $$
  with known as materialized (
    select coalesce(max(newest.cursors), '{0,0,0,0}') as cursors,
           coalesce(max(newest.floors), array_fill('-infinity'::timestamptz, array[4])) as floors
    from (select cursors, floors from holdfast.queue_cursors where lane_id = lane order by seq desc limit 1) as newest
  )
  select min(since) from (
    select holdfast.time_of_id(fresh.id) as since from known cross join generate_series(0, 3) as level cross join lateral (
      select run.id from holdfast.runs as run
      where run.lane_id = lane and run.due_at is null
        and (run.priority, run.id) > (level, known.cursors[level + 1]) and (run.priority, run.id) < (level + 1, 0)
      order by run.priority, run.id limit 1
    ) as fresh
    union all
    select holdfast.time_of_id(greatest(bundle.first_id, known.cursors[level + 1] + 1))
    from known cross join generate_series(0, 3) as level cross join lateral (
      select next.first_id from holdfast.run_bundles as next
      where next.lane_id = lane
        and (next.priority, next.last_id) > (level, known.cursors[level + 1]) and (next.priority, next.last_id) < (level + 1, 0)
      order by next.priority, next.last_id limit 1
    ) as bundle
    union all
    select due.due_at from known cross join generate_series(0, 3) as level cross join lateral (
      select run.due_at from holdfast.runs as run
      where run.lane_id = lane and run.priority = level and run.due_at is not null and run.target is null and run.crashes = 0
        and run.due_at >= known.floors[level + 1] and run.due_at <= now() and run.claim_id is null
      order by run.due_at limit 1
    ) as due
    union all
    (
      select run.due_at from holdfast.runs as run
      where run.lane_id = lane and run.crashes > 0 and run.due_at <= now() and run.claim_id is null order by run.due_at limit 1
    )
    union all
    (
      select run.due_at from holdfast.runs as run
      where run.lane_id = lane and run.target is not null and run.due_at <= now() and run.claim_id is null order by run.due_at limit 1
    )
  ) as waiting
$$;

-- Gauges of queues, a hundred of them at most. Rows are counted to a million, in one scan for all queues.
create function holdfast.queue_metrics() returns table (metric text, labels jsonb, value double precision)
language sql stable as $$
  with owed as materialized (
    select part.lane_id, sum(part.runs) as runs from (
      select lane_id, count(*) as runs from (select lane_id from holdfast.runs limit 1000000) as counted group by lane_id
      union all
      select lane_id, sum(last_id - first_id + 1) from holdfast.waiting_bundles group by lane_id
      union all
      select claim.lane_id, sum(upper(part) - lower(part)) from holdfast.run_claims as claim cross join unnest(claim.bundled) as part
      group by claim.lane_id
    ) as part group by part.lane_id
  )
  select gauge.metric, jsonb_build_object('queue', queue.name), gauge.value
  from (select id, name from holdfast.queues order by name limit 100) as queue
  left join owed on owed.lane_id = queue.id
  cross join lateral (values
    ('queue_runs', coalesce(owed.runs, 0)::double precision),
    ('queue_oldest_due_seconds', coalesce(
      greatest(0, extract(epoch from clock_timestamp() - holdfast.oldest_waiting_run(queue.id))), 0)::double precision)
  ) as gauge (metric, value)
$$;
