-- Maintenance: what one node at a time does for all of them, and how it went.
-- The owner of shard 0 leads. Its term is a counter of its own: a fenced transaction holds the leader's lock shared while it works,
-- a new term needs it exclusively. Takeover of the shards themselves never waits for maintenance.

create table holdfast.leadership (
  is_only boolean primary key default true check (is_only),
  term bigint not null default 0,
  incarnation integer,
  node text,
  since timestamptz
);
insert into holdfast.leadership default values;

create table holdfast.maintenance_tasks (
  name text primary key,
  -- {everyMs} or {cron, timezone}
  schedule jsonb not null,
  next_run_at timestamptz not null,
  -- When a person asked for a run.
  requested_at timestamptz,
  running_since timestamptz,
  term bigint,
  node text,
  last_started_at timestamptz,
  last_duration_ms integer,
  last_succeeded_at timestamptz,
  last_failed_at timestamptz,
  last_error text,
  -- In a row.
  failures integer not null default 0,
  summary jsonb
) with (fillfactor = 50);

-- A new term for the owner of shard 0; null when that is somebody else, or when the last leader is in the middle of something.
create function holdfast.claim_leadership(me integer, shard_epoch bigint) returns bigint
language plpgsql as $$
declare
  new_term bigint;
begin
  if not pg_try_advisory_xact_lock(hashtext('holdfast.leader'), 0) then
    return null;
  end if;
  update holdfast.leadership set
    term = term + 1, incarnation = me, since = clock_timestamp(),
    node = (select name from holdfast.nodes where nodes.incarnation = me)
  where exists (select from holdfast.shard_leases as lease where lease.shard = 0 and lease.incarnation = me and lease.epoch = shard_epoch)
  returning term into new_term;
  return new_term;
end $$;

-- Until this transaction ends, nobody else can become leader. Raises when somebody else is.
create function holdfast.assert_leader(me integer, my_term bigint) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.leader'), 0);
  if not exists (select from holdfast.leadership where incarnation = me and term = my_term) then
    raise exception 'node % no longer leads in term %', me, my_term using errcode = 'HF020';
  end if;
end $$;

-- The tasks that this leader knows: [{name, schedule, firstRunAt}]. A task keeps its place in time over a change of leader.
create function holdfast.register_tasks(me integer, my_term bigint, tasks jsonb) returns void
language plpgsql as $$
begin
  perform holdfast.assert_leader(me, my_term);
  insert into holdfast.maintenance_tasks as known (name, schedule, next_run_at)
  select task.name, task.schedule, coalesce(task."firstRunAt", clock_timestamp())
  from jsonb_to_recordset(tasks) as task (name text, schedule jsonb, "firstRunAt" timestamptz)
  on conflict (name) do update set
    schedule = excluded.schedule,
    next_run_at = case when known.schedule = excluded.schedule then known.next_run_at else least(known.next_run_at, excluded.next_run_at) end;
  -- What the last leader began, it won't finish.
  update holdfast.maintenance_tasks set running_since = null where running_since is not null;
  delete from holdfast.maintenance_tasks where name not in (select task ->> 'name' from jsonb_array_elements(tasks) as task);
end $$;

-- Marks what is due as running and returns it. Should the process die of a task, the next leader doesn't take it up at once.
create function holdfast.start_due_tasks(me integer, my_term bigint, busy text[], retry_ms double precision) returns setof text
language plpgsql as $$
begin
  perform holdfast.assert_leader(me, my_term);
  return query
  update holdfast.maintenance_tasks as task set
    running_since = clock_timestamp(), last_started_at = clock_timestamp(), term = my_term,
    node = (select leadership.node from holdfast.leadership),
    next_run_at = clock_timestamp() + make_interval(secs => least(retry_ms, (task.schedule ->> 'everyMs')::double precision) / 1000)
  where task.next_run_at <= clock_timestamp() and task.name <> all (busy)
  returning task.name;
end $$;

-- `error` null: it went well. The next run: at a time, or so long after the start of this one.
create function holdfast.finish_task(
  me integer, my_term bigint, task_name text, duration_ms integer, task_summary jsonb, error text, next_at timestamptz,
  after_start_ms double precision
) returns void
language plpgsql as $$
begin
  perform holdfast.assert_leader(me, my_term);
  update holdfast.maintenance_tasks set
    running_since = null, last_duration_ms = duration_ms, last_error = error,
    summary = case when error is null then task_summary else summary end,
    failures = case when error is null then 0 else failures + 1 end,
    last_succeeded_at = case when error is null then clock_timestamp() else last_succeeded_at end,
    last_failed_at = case when error is null then last_failed_at else clock_timestamp() end,
    -- Somebody may have asked for another run meanwhile.
    next_run_at = case
      when requested_at > last_started_at then next_run_at
      else greatest(coalesce(next_at, last_started_at + make_interval(secs => after_start_ms / 1000)), clock_timestamp())
    end
  where name = task_name and term = my_term;
end $$;

-- Runs a task at the leader's next look, whatever its schedule says. False when there is no such task.
create function holdfast.run_task(task_name text, actor text default current_user) returns boolean
language plpgsql as $$
begin
  update holdfast.maintenance_tasks set next_run_at = clock_timestamp(), requested_at = clock_timestamp() where name = task_name;
  if not found then
    return false;
  end if;
  perform holdfast.audit(actor, 'maintenance.requested', 'task:' || task_name);
  return true;
end $$;

-- Idempotency keys whose window is over, a bounded number at a time. Index: idempotency_keys_expiry.
create function holdfast.purge_idempotency_keys(max_rows integer) returns integer
language plpgsql as $$
declare
  purged integer;
begin
  delete from holdfast.idempotency_keys where (scope, key) in (
    select scope, key from holdfast.idempotency_keys where expires_at <= now() order by expires_at limit max_rows for update skip locked
  );
  get diagnostics purged = row_count;
  return purged;
end $$;

-- What monitors ask.

-- Since when the lane's oldest delivery has been owed; null when none is. One that is scheduled for later isn't owed yet. Looks at the
-- first hundred of each priority. Index: deliveries_ready.
create function holdfast.oldest_owed(lane integer) returns timestamptz
language sql stable as $$
  select min(head.since)
  from generate_series(0, 3) as level cross join lateral (
    select coalesce(early.owed_at, holdfast.time_of_id(early.id)) as since
    from (
      -- As a range of pairs and not `priority = level … order by id`: for that the primary key seems as good to a planner, and an empty
      -- priority costs a walk over the whole backlog.
      select id, owed_at from holdfast.deliveries
      where lane_id = lane and (priority, id) >= (level, 0) and (priority, id) < (level + 1, 0)
      order by priority, id limit 100
    ) as early
    where coalesce(early.owed_at <= now(), true)
    order by early.id limit 1
  ) as head
$$;

-- The cluster's gauges, named as in Prometheus without the prefix. Circuits: those of endpoints that aren't healthy, a thousand at most.
create function holdfast.metrics() returns table (metric text, labels jsonb, value double precision)
language plpgsql stable as $$
begin
  return query
  select 'backlog', '{}'::jsonb, coalesce(
    -- With no node to report, the planner's last count has to do.
    (select sum(pending)::double precision from holdfast.nodes where beat_at > clock_timestamp() - interval '10 seconds'),
    (select greatest(reltuples, 0)::double precision from pg_class where oid = 'holdfast.deliveries'::regclass)
  )
  union all
  select 'oldest_due_seconds', '{}', coalesce(greatest(0, extract(epoch from clock_timestamp() - min(holdfast.oldest_owed(stats.lane_id)))), 0)
  from (
    select lane_id from holdfast.lane_stats join holdfast.endpoints as endpoint on endpoint.id = lane_id
    where pending > 0 and endpoint.state in ('active', 'rejecting') limit 2000
  ) as stats
  union all
  select 'dead_letters', '{}', count(*) from holdfast.dead_letters where state = 'open'
  union all
  select 'nodes', '{}', count(*) from holdfast.nodes where beat_at > clock_timestamp() - interval '10 seconds';
  return query
  select 'workers', '{}'::jsonb, count(*)::double precision from holdfast.workers
  where beat_at > clock_timestamp() - make_interval(secs => greatest(10, lease_ms / 1000.0));
  return query
  select 'circuit_state', jsonb_build_object('endpoint', unwell.name), unwell.circuit
  from (
    select endpoint.name, case breaker.state when 'open' then 2 when 'half_open' then 1 else 0 end::double precision as circuit
    from holdfast.endpoints as endpoint left join holdfast.breakers as breaker on breaker.lane_id = endpoint.id
    where breaker.state <> 'closed' or breaker.hold_reason is not null or breaker.held_until > now()
      or endpoint.state in ('rejecting', 'disabled')
    order by 2 desc, 1 limit 1000
  ) as unwell;
  return query select * from holdfast.queue_metrics();
end $$;

-- Gauges of chosen endpoints: these by name, and the `top` with the longest lines.
create function holdfast.endpoint_metrics(names text[], top integer) returns table (metric text, labels jsonb, value double precision)
language sql stable as $$
  with chosen as (
    select id, name from holdfast.endpoints where name = any (names)
    union
    (
      select endpoint.id, endpoint.name
      from holdfast.lane_stats as stats join holdfast.endpoints as endpoint on endpoint.id = stats.lane_id
      where stats.pending > 0 order by stats.pending desc, endpoint.id limit least(top, 1000)
    )
  ), gauges as (
    select chosen.name, coalesce(stats.pending, 0) as pending, coalesce(stats.in_flight, 0) as in_flight,
           coalesce(greatest(0, extract(epoch from clock_timestamp() - holdfast.oldest_owed(chosen.id))), 0) as oldest,
           (select count(*) from holdfast.dead_letters where lane_id = chosen.id and state = 'open') as letters
    from chosen left join holdfast.lane_stats as stats on stats.lane_id = chosen.id
  )
  select gauge.metric, jsonb_build_object('endpoint', gauges.name), gauge.value
  from gauges cross join lateral (values
    ('endpoint_backlog', pending::double precision), ('endpoint_in_flight', in_flight::double precision),
    ('endpoint_oldest_due_seconds', oldest::double precision), ('endpoint_dead_letters', letters::double precision)
  ) as gauge (metric, value)
$$;

-- Statistics: attempts added up per endpoint, so that they outlive the partitions of the attempts themselves. Owners count in memory
-- and add what they counted every few seconds. `period`: 1 a minute (kept for a day), 2 an hour (for 35 days), 3 a day (for 400).
create table holdfast.rollups (
  lane_id integer not null,
  period smallint not null check (period between 1 and 3),
  starts_at timestamptz not null,
  attempts bigint not null,
  successes bigint not null,
  throttled bigint not null,
  -- How many attempts took how long, by the buckets of src/core/duration-buckets.ts; what is missing at the end is zero.
  durations integer[] not null,
  -- {"200": 12, "timeout": 3}
  answers jsonb not null,
  primary key (lane_id, period, starts_at)
) with (fillfactor = 70);
create index rollups_age on holdfast.rollups (period, starts_at);

-- The last flush that each node has added, so that one whose answer got lost isn't added twice.
create table holdfast.rollup_flushes (
  incarnation integer primary key,
  flush bigint not null
) with (fillfactor = 50);

create function holdfast.add_counts(first integer[], second integer[]) returns integer[]
language sql immutable parallel safe as $$
  select coalesce(array_agg(coalesce(a, 0) + coalesce(b, 0) order by place), '{}')
  from unnest(first, second) with ordinality as counts (a, b, place)
$$;

-- At most 32 different answers; the rarer ones are added up as "other".
create function holdfast.add_answers(first jsonb, second jsonb) returns jsonb
language sql immutable parallel safe as $$
  select coalesce(jsonb_object_agg(answer, total), '{}') from (
    select case when place <= 32 then answer else 'other' end as answer, sum(total) as total from (
      select key as answer, sum(value::bigint) as total, row_number() over (order by sum(value::bigint) desc, key) as place
      from (select * from jsonb_each_text(first) union all select * from jsonb_each_text(second)) as every
      group by key
    ) as ranked group by 1
  ) as kept
$$;

-- Adds what a node counted: [{lane, period, startsAtMs, attempts, successes, throttled, durations, answers}], one entry a row.
create function holdfast.add_rollups(me integer, flush_number bigint, counted jsonb) returns boolean
language plpgsql as $$
begin
  insert into holdfast.rollup_flushes as last (incarnation, flush) values (me, flush_number)
  on conflict (incarnation) do update set flush = excluded.flush where last.flush < excluded.flush;
  if not found then
    return false;
  end if;
  -- In one order everywhere: two nodes that add to the same hours (a lane has changed hands) must not wait for each other.
  insert into holdfast.rollups as known (lane_id, period, starts_at, attempts, successes, throttled, durations, answers)
  select lane, period, to_timestamp("startsAtMs" / 1000), attempts, successes, throttled, durations, answers
  from jsonb_to_recordset(counted) as given (
    lane integer, period smallint, "startsAtMs" double precision, attempts bigint, successes bigint, throttled bigint,
    durations integer[], answers jsonb
  )
  order by lane, period, "startsAtMs"
  on conflict (lane_id, period, starts_at) do update set
    attempts = known.attempts + excluded.attempts, successes = known.successes + excluded.successes,
    throttled = known.throttled + excluded.throttled, durations = holdfast.add_counts(known.durations, excluded.durations),
    answers = holdfast.add_answers(known.answers, excluded.answers);
  return true;
end $$;

-- Rollups of one period, added up in steps. Index: rollups_pkey for one lane, rollups_age for all of them.
create function holdfast.sum_rollups(only_lane integer, of_period smallint, since timestamptz, step interval)
returns table (lane_id integer, starts_at timestamptz, attempts bigint, successes bigint, throttled bigint, durations bigint[], answers jsonb)
language sql stable as $$
  with chosen as (
    select rollup.*, date_bin(step, rollup.starts_at, '2024-01-01 00:00:00Z') as at from holdfast.rollups as rollup
    where (only_lane is null or rollup.lane_id = only_lane) and rollup.period = of_period and rollup.starts_at >= since
  ), totals as (
    select chosen.lane_id, at, sum(chosen.attempts)::bigint as attempts, sum(chosen.successes)::bigint as successes,
           sum(chosen.throttled)::bigint as throttled
    from chosen group by 1, 2
  ), histograms as (
    select place.lane_id, at, array_agg(total order by bucket) as durations from (
      select chosen.lane_id, at, bucket, sum(count)::bigint as total
      from chosen cross join unnest(chosen.durations) with ordinality as counts (count, bucket) group by 1, 2, 3
    ) as place group by 1, 2
  ), mixes as (
    select answer.lane_id, at, jsonb_object_agg(key, total) as answers from (
      select chosen.lane_id, at, key, sum(value::bigint) as total from chosen cross join jsonb_each_text(chosen.answers) group by 1, 2, 3
    ) as answer group by 1, 2
  )
  select totals.lane_id, totals.at, totals.attempts, totals.successes, totals.throttled, coalesce(histograms.durations, '{}'),
         coalesce(mixes.answers, '{}')
  from totals left join histograms using (lane_id, at) left join mixes using (lane_id, at)
  order by 1, 2
$$;

-- Days are made from hours, again and again while late hours may still come in.
create function holdfast.roll_up_days(days_back integer) returns integer
language plpgsql as $$
declare
  written integer;
begin
  insert into holdfast.rollups as known (lane_id, period, starts_at, attempts, successes, throttled, durations, answers)
  select lane_id, 3, starts_at, attempts, successes, throttled, durations::integer[], answers
  from holdfast.sum_rollups(null, 2::smallint, date_trunc('day', now(), 'UTC') - make_interval(days => days_back), interval '1 day')
  on conflict (lane_id, period, starts_at) do update set
    attempts = excluded.attempts, successes = excluded.successes, throttled = excluded.throttled, durations = excluded.durations,
    answers = excluded.answers;
  get diagnostics written = row_count;
  return written;
end $$;

-- What is past its time, a bounded number at a time. Index: rollups_age.
create function holdfast.purge_rollups(max_rows integer) returns integer
language plpgsql as $$
declare
  purged integer := 0;
  removed integer;
  kept record;
begin
  for kept in select * from (values (1, interval '25 hours'), (2, interval '35 days'), (3, interval '400 days')) as given (period, age) loop
    delete from holdfast.rollups where ctid = any (array(
      select ctid from holdfast.rollups where period = kept.period and starts_at < now() - kept.age order by starts_at limit max_rows
    ));
    get diagnostics removed = row_count;
    purged := purged + removed;
  end loop;
  delete from holdfast.rollup_flushes as flush
  where not exists (select from holdfast.nodes as node where node.incarnation = flush.incarnation);
  return purged;
end $$;
