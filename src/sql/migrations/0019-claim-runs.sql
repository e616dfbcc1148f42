-- Claiming runs. All claims of one queue go one after the other, under an advisory lock; each takes a batch.

-- How many runs of the queue workers hold, running or about to. Asked for limited queues only.
create function holdfast.count_claimed(lane integer) returns integer
language sql stable as $$
  select (
    (
      select count(*)
      from holdfast.run_claims as claim cross join unnest(claim.run_ids) as held (id)
      join holdfast.runs as run on run.id = held.id and (run.due_at is null or run.claim_id = claim.id)
      where claim.lane_id = lane
    ) + (
      select coalesce(sum(upper(part) - lower(part)), 0)
      from holdfast.run_claims as claim cross join unnest(claim.bundled) as part where claim.lane_id = lane
    )
  )::integer
$$;

-- The targets in this queue that a worker of this name and these tags fits; found by skipping from one to the next in runs_targeted.
create function holdfast.fitting_targets(lane integer, worker_name text, worker_tags text[]) returns text[]
language sql stable as $$
  with recursive every (target) as (
    (select target from holdfast.runs where lane_id = lane and target is not null order by target limit 1)
    union all
    select (select run.target from holdfast.runs as run where run.lane_id = lane and run.target > every.target order by run.target limit 1)
    from every where every.target is not null
  )
  select array_agg(target) from every
  where target = 'worker:' || worker_name
    or (starts_with(target, 'tags:') and string_to_array(substr(target, 6), ',') <@ worker_tags)
$$;

-- The transaction that begins next, which a snapshot doesn't tell: its xmax is one past the last to end, and others may have begun since. age()
-- tells it modulo 2^32, as long as this transaction has no id of its own, and doesn't use one up.
create function holdfast.next_transaction(seen pg_snapshot) returns bigint
language sql volatile
return pg_snapshot_xmax(seen)::text::bigint + ((age('3'::xid)::bigint + 3 - pg_snapshot_xmax(seen)::text::bigint) & 4294967295);

-- A row for each due run that was claimed, and a last one without an id: it holds the fresh ones, as few long texts instead of many rows (which
-- halves what a claim costs on both sides), and, when fewer came than were wanted, when something falls due (or a limit eases) and which
-- transactions the look saw. `suspect_room`: how many runs that were there at a crash may be taken. `may_take_deadly`: whether one
-- of those that were there twice may be among them. `request`: the worker's number for this call, see return_claim.
-- Each statement in here takes its time, also when it finds nothing: what an idle queue doesn't need is passed over.
create function holdfast.claim_runs(
  me integer, lane integer, wanted integer, suspect_room integer, may_take_deadly boolean, request bigint default 0
)
returns table (
  claim bigint, id bigint, message_id bigint, job_id integer, attempt integer, crashes smallint, expires_at_ms double precision, body text,
  correlation_id text, headers jsonb, metadata jsonb, fresh_run_ids text, fresh_run_jobs text, fresh_run_expiries text, body_ids text,
  bodies text, body_extras jsonb, wait_ms double precision, xmin_seen bigint, next_seen bigint
)
language plpgsql as $$
#variable_conflict use_column
declare
  state record;
  room integer := wanted;
  fresh_rows integer;
  targets text[];
  looked_at timestamptz := clock_timestamp();
  seen pg_snapshot;
  seen_next bigint;
  first_due_at timestamptz;
  has_others boolean;
  due_ids bigint[];
  due_verdicts text[];
  due_priorities smallint[];
  due_times timestamptz[];
  due_taken bigint[];
  fresh_ids bigint[];
  fresh_jobs integer[];
  fresh_priorities smallint[];
  fresh_expiries timestamptz[];
  fresh_active boolean[];
  -- The last number of the bundle that each is from; null: it has a row.
  fresh_bundles bigint[];
  passed_bundles bigint[];
  fresh_taken bigint[];
  taken_rows bigint[];
  taken_bundled int8multirange := '{}';
  parked bigint[];
  new_cursors bigint[];
  new_floors timestamptz[];
  reset_floor timestamptz;
  ended xid8[];
  ended_id bigint;
  kept_xids xid8[];
  kept_ids bigint[];
  kept_floors timestamptz[];
  new_claim bigint;
  late integer := 0;
  limit_ms double precision;
  taken integer;
begin
  -- The worker's lock before the queue's, and both before anything is read.
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.incarnation'), me), pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
  select worker.name as worker_name, worker.tags as worker_tags, queue.state as queue_state, queue.concurrency, queue.rate_per_second,
         exists (select from holdfast.jobs where queue_id = lane and state <> 'active') as has_inactive_jobs,
         -- Read before the snapshot below is taken: who gets his transaction id after that draws higher ones.
         ids.last_value as new_horizon,
         known.seq, coalesce(known.cursors, '{0,0,0,0}') as cursors,
         coalesce(known.floors, array_fill('-infinity'::timestamptz, array[4])) as floors, coalesce(known.horizon, 0) as horizon,
         coalesce(known.gap_xids, '{}') as gap_xids, coalesce(known.gap_ids, '{}') as gap_ids, coalesce(known.gap_floors, '{}') as gap_floors,
         known.tokens, known.tokens_at
  into state
  from holdfast.workers as worker cross join holdfast.ids
  left join holdfast.queues as queue on queue.id = lane
  left join lateral (
    select cursor.* from holdfast.queue_cursors as cursor where cursor.lane_id = lane order by cursor.seq desc limit 1
  ) as known on true
  where worker.incarnation = me and worker.state = 'active' and worker.min_request <= claim_runs.request;
  if not found then
    return;
  end if;
  if state.queue_state is distinct from 'active' then
    xmin_seen := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    next_seen := holdfast.next_transaction(pg_current_snapshot());
    return next;
    return;
  end if;
  if state.concurrency is not null then
    room := least(room, state.concurrency - holdfast.count_claimed(lane));
    limit_ms := 50;
  end if;
  if state.rate_per_second is not null then
    -- A bucket that holds a second's worth, and one run at least.
    state.tokens := least(
      greatest(state.rate_per_second, 1),
      coalesce(state.tokens, greatest(state.rate_per_second, 1))
        + extract(epoch from looked_at - coalesce(state.tokens_at, looked_at)) * state.rate_per_second
    );
    state.tokens_at := looked_at;
    if floor(state.tokens) < room then
      room := floor(state.tokens)::integer;
      limit_ms := greatest(1, (1 - state.tokens + room) / state.rate_per_second * 1000);
    end if;
  end if;
  if room <= 0 then
    wait_ms := limit_ms;
    xmin_seen := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    next_seen := holdfast.next_transaction(pg_current_snapshot());
    return next;
    return;
  end if;

  -- Fresh runs first: a transaction that has an id of its own, as the locks below give it one, isn't told which comes next.
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'claim_runs has to be the first statement of its transaction' using errcode = '25001';
  end if;
  -- Runs of a job that isn't active are passed in larger steps, so that what waits behind them comes soon.
  fresh_rows := case when state.has_inactive_jobs then greatest(room, 1000) else room end;
  -- Fresh runs of all priorities, the snapshot, and the id of the next transaction, in one statement: they have to belong together.
  select pg_current_snapshot(), holdfast.next_transaction(pg_current_snapshot()), array_agg(fresh.id), array_agg(fresh.job_id),
         array_agg(fresh.priority), array_agg(fresh.expires_at),
         case when bool_and(fresh.is_active) is false then array_agg(fresh.is_active) end,
         case when max(fresh.bundle) is not null then array_agg(fresh.bundle) end,
         -- When the first falls due of what waits for nothing but a time; null: none does.
         (
           select min(due.due_at) from generate_series(0, 3) as level cross join lateral (
             select run.due_at from holdfast.runs as run
             where run.lane_id = lane and run.priority = level and run.due_at is not null and run.target is null and run.crashes = 0
               and run.due_at >= state.floors[level + 1] and run.due_at < 'infinity' and run.claim_id is null
             order by run.due_at limit 1
           ) as due
         ),
         -- Whether anything else waits that isn't fresh, now or for a time to come.
         exists (select from holdfast.runs as run where run.lane_id = lane and run.target is not null)
         or exists (
           select from holdfast.runs as run
           where run.lane_id = lane and run.crashes > 0 and run.due_at is not null and run.due_at < 'infinity' and run.claim_id is null
         )
  into seen, seen_next, fresh_ids, fresh_jobs, fresh_priorities, fresh_expiries, fresh_active, fresh_bundles, first_due_at, has_others
  from (
    select candidate.*, job.state = 'active' as is_active
    from generate_series(3, 0, -1) as level cross join lateral (
      (
        select run.id, run.job_id, run.priority, run.expires_at, null::bigint as bundle from holdfast.runs as run
        -- As a range of pairs and not `priority = level … order by id`: for that the primary key seems as good to a planner, and an
        -- empty priority would cost a walk over the whole backlog.
        where run.lane_id = lane and run.due_at is null
          and (run.priority, run.id) > (level, state.cursors[level + 1]) and (run.priority, run.id) < (level + 1, 0)
        order by run.priority, run.id limit fresh_rows
      )
      union all
      (
        select each, bundle.job_id, bundle.priority, null, bundle.last_id
        from (
          select * from holdfast.run_bundles as known
          where known.lane_id = lane
            and (known.priority, known.last_id) > (level, state.cursors[level + 1]) and (known.priority, known.last_id) < (level + 1, 0)
          order by known.priority, known.last_id limit fresh_rows
        ) as bundle
        -- The series ends where the claim does: it is made as a whole, however few of it are wanted.
        cross join lateral generate_series(
          greatest(bundle.first_id, state.cursors[level + 1] + 1),
          least(bundle.last_id, greatest(bundle.first_id, state.cursors[level + 1] + 1) + fresh_rows - 1)
        ) as each
        limit fresh_rows
      )
    ) as candidate
    join holdfast.jobs as job on job.id = candidate.job_id
    order by candidate.priority desc, candidate.id limit fresh_rows
  ) as fresh;

  -- What was running then and has ended since: it may have left runs behind the cursor, and due ones below the floor.
  if state.gap_xids = '{}' then
    kept_xids := '{}';
    kept_ids := '{}';
    kept_floors := '{}';
  else
    select array_agg(gap.xid) filter (where pg_visible_in_snapshot(gap.xid, seen)),
           min(gap.id) filter (where pg_visible_in_snapshot(gap.xid, seen)),
           min(gap.floor) filter (where pg_visible_in_snapshot(gap.xid, seen)),
           coalesce(array_agg(gap.xid) filter (where not pg_visible_in_snapshot(gap.xid, seen)), '{}'),
           coalesce(array_agg(gap.id) filter (where not pg_visible_in_snapshot(gap.xid, seen)), '{}'),
           coalesce(array_agg(gap.floor) filter (where not pg_visible_in_snapshot(gap.xid, seen)), '{}')
    into ended, ended_id, reset_floor, kept_xids, kept_ids, kept_floors
    from unnest(state.gap_xids, state.gap_ids, state.gap_floors) as gap (xid, id, floor);
  end if;

  -- Due runs, with what to do about each. Rows that somebody else is just changing are left for the next look.
  if first_due_at <= looked_at or has_others or ended is not null then
    if exists (select from holdfast.runs where lane_id = lane and target is not null) then
      targets := holdfast.fitting_targets(lane, state.worker_name, state.worker_tags);
    end if;
    with waiting as (
      select candidate.* from generate_series(3, 0, -1) as level cross join lateral (
        select run.* from holdfast.runs as run
        where run.lane_id = lane and run.priority = level and run.due_at is not null and run.target is null and run.crashes = 0
          and run.due_at >= least(state.floors[level + 1], reset_floor) and run.due_at <= looked_at and run.claim_id is null
        order by run.due_at limit wanted for update skip locked
      ) as candidate
      union all
      select candidate.* from unnest(targets) as wanted_target cross join lateral (
        select run.* from holdfast.runs as run
        where run.lane_id = lane and run.target = wanted_target and run.crashes = 0 and run.due_at <= looked_at and run.claim_id is null
        order by run.due_at limit wanted for update skip locked
      ) as candidate
      union all
      select candidate.* from unnest(array[false, true]) as is_deadly cross join lateral (
        select run.* from holdfast.runs as run
        where run.lane_id = lane and run.crashes > 0 and (run.crashes > 1) = is_deadly and run.due_at <= looked_at and run.claim_id is null
          and (run.target is null or run.target = any (targets))
        order by run.priority desc, run.due_at limit case when not is_deadly then suspect_room when may_take_deadly then 1 else 0 end
        for update skip locked
      ) as candidate
    ), judged as (
      select waiting.id, waiting.priority, waiting.due_at, waiting.target, waiting.crashes,
        case
          when job.state <> 'active' then 'park'
          when waiting.ordering_key is not null and exists (
            select from holdfast.runs as older
            where older.ordering_key = waiting.ordering_key and older.lane_id = lane and older.id < waiting.id
          ) then 'park'
          -- It was committed after a later one of its key, which is out.
          when waiting.ordering_key is not null and exists (
            select from holdfast.runs as later
            where later.ordering_key = waiting.ordering_key and later.lane_id = lane and later.claim_id is not null
          ) then 'leave'
          when waiting.concurrency_key is not null
            and row_number() over (partition by waiting.concurrency_key order by waiting.id) + (
              select count(*) from holdfast.runs as other
              where other.concurrency_key = waiting.concurrency_key and other.lane_id = lane and other.claim_id is not null
            ) > coalesce((job.settings ->> 'concurrencyPerKey')::integer, 1) then 'park'
          when waiting.crashes > 0 and row_number() over (
            partition by waiting.crashes > 0 order by waiting.crashes > 1, waiting.priority desc, waiting.due_at
          ) > suspect_room then 'leave'
          else 'take'
        end as verdict
      from waiting join holdfast.jobs as job on job.id = waiting.job_id
    )
    select array_agg(judged.id order by judged.priority desc, judged.due_at, judged.id),
           array_agg(judged.verdict order by judged.priority desc, judged.due_at, judged.id),
           array_agg(judged.priority order by judged.priority desc, judged.due_at, judged.id),
           array_agg(case when judged.target is null and judged.crashes = 0 then judged.due_at end order by judged.priority desc, judged.due_at, judged.id)
    into due_ids, due_verdicts, due_priorities, due_times
    from judged;
  end if;

  if due_ids is null and fresh_active is null and fresh_rows = room then
    fresh_taken := fresh_ids;
    new_cursors := state.cursors;
    if fresh_priorities[1] = fresh_priorities[cardinality(fresh_ids)] then
      -- All of one priority: the last one has the highest number.
      new_cursors[fresh_priorities[1] + 1] := fresh_ids[cardinality(fresh_ids)];
    elsif fresh_ids is not null then
      select array_agg(greatest(state.cursors[level + 1], coalesce(passed.last, 0)) order by level) into new_cursors
      from generate_series(0, 3) as level left join (
        select priority, max(id) as last from unnest(fresh_ids, fresh_priorities) as fresh (id, priority) group by priority
      ) as passed on passed.priority = level;
    end if;
  else
    with candidates as (
      select due.id, due.priority, 0 as line, due.place from unnest(due_ids, due_priorities, due_verdicts) with ordinality
        as due (id, priority, verdict, place) where due.verdict = 'take'
      union all
      select fresh.id, fresh.priority, 1, fresh.place from unnest(fresh_ids, fresh_priorities, fresh_active) with ordinality
        as fresh (id, priority, is_active, place) where fresh.is_active is not false
    ), ranked as (
      select candidates.*, row_number() over (order by candidates.priority desc, candidates.line, candidates.place) as rank from candidates
    )
    select array_agg(ranked.id order by ranked.rank) filter (where ranked.line = 0),
           array_agg(ranked.id order by ranked.rank) filter (where ranked.line = 1)
    into due_taken, fresh_taken
    from ranked where ranked.rank <= room;
    -- The cursor stops at the first fresh run that is left; those of jobs that aren't active are set aside as it passes.
    with fetched as (
      select fresh.*, fresh.id = any (coalesce(fresh_taken, '{}')) as is_taken
      from unnest(fresh_ids, fresh_priorities, fresh_active) as fresh (id, priority, is_active)
    ), cuts as (
      select fetched.priority, case when bool_and(fetched.is_taken or fetched.is_active is false) then max(fetched.id)
             else min(fetched.id) filter (where not fetched.is_taken and fetched.is_active is not false) - 1 end as cut
      from fetched group by fetched.priority
    )
    select (select array_agg(greatest(state.cursors[level + 1], coalesce(cuts.cut, 0)) order by level)
            from generate_series(0, 3) as level left join cuts on cuts.priority = level),
           (select array_agg(fetched.id) from fetched join cuts using (priority) where fetched.is_active is false and fetched.id <= cuts.cut)
    into new_cursors, parked;
    parked := nullif(parked || array(select due.id from unnest(due_ids, due_verdicts) as due (id, verdict) where due.verdict = 'park'), '{}');
  end if;
  taken := coalesce(cardinality(due_taken), 0) + coalesce(cardinality(fresh_taken), 0);

  if taken = 0 and ended is null and parked is null and new_cursors = state.cursors then
    -- Nothing to remember: the next look will compare itself with the same one before.
    wait_ms := case when has_others or first_due_at is not null then holdfast.next_due_ms(lane, targets) end;
    xmin_seen := pg_snapshot_xmin(seen)::text::bigint;
    next_seen := seen_next;
    return next;
    return;
  end if;

  if ended is not null and ended_id < (select max(cursor) from unnest(state.cursors) as cursor) then
    -- Late ones join the due line, a bounded number at a time; a gap that isn't through stays open.
    with behind as (
      select candidate.id from generate_series(0, 3) as level cross join lateral (
        select run.id from holdfast.runs as run
        where run.lane_id = lane and run.due_at is null
          and (run.priority, run.id) > (level, ended_id) and (run.priority, run.id) <= (level, state.cursors[level + 1])
          and run.published_by = any (ended)
        order by run.priority, run.id limit 5000 for update skip locked
      ) as candidate
    )
    update holdfast.runs as run set due_at = looked_at - interval '1 microsecond' from behind where run.id = behind.id;
    get diagnostics late = row_count;
    late := late + holdfast.take_out_late(lane, ended, ended_id, state.cursors, looked_at - interval '1 microsecond');
    -- What is left: more than the bound, or a row that somebody held just now.
    if exists (
      select from generate_series(0, 3) as level cross join lateral (
        select from holdfast.runs as run
        where run.lane_id = lane and run.due_at is null
          and (run.priority, run.id) > (level, ended_id) and (run.priority, run.id) <= (level, state.cursors[level + 1])
          and run.published_by = any (ended) limit 1
      ) as behind
    ) or exists (select from holdfast.late_bundles(lane, ended, ended_id, state.cursors)) then
      kept_xids := kept_xids || ended;
      kept_ids := kept_ids || array_fill(ended_id, array[cardinality(ended)]);
      kept_floors := kept_floors || array_fill(reset_floor, array[cardinality(ended)]);
    end if;
  end if;
  -- Those that run now, also those that began after the last one to end: a snapshot doesn't list them, though their runs may lie behind the
  -- cursor already. Who begins from now on draws numbers above everything seen here.
  if pg_snapshot_xmin(seen)::text::bigint < seen_next then
    select kept_xids || coalesce(array_agg(running.xid), '{}'),
           kept_ids || coalesce(array_agg(state.horizon), '{}'),
           kept_floors || coalesce(array_agg((select min(floor) from unnest(state.floors) as floor)), '{}')
    into kept_xids, kept_ids, kept_floors
    from (
      select pg_snapshot_xip(seen)
      union all
      select begun::text::xid8 from generate_series(pg_snapshot_xmax(seen)::text::bigint, seen_next - 1) as begun
    ) as running (xid) where running.xid <> all (state.gap_xids);
  end if;

  -- Below the floor nothing due waits, but what commits late (its transaction resets the floor) or was locked just now (two seconds' grace).
  if due_ids is null then
    new_floors := array_fill(least(reset_floor, looked_at - interval '2 seconds'), array[4]);
  else
    select array_agg(least(
             coalesce(due.first_left, case when due.total >= wanted then due.last end, looked_at - interval '2 seconds'),
             reset_floor, looked_at - interval '2 seconds'
           ) order by level)
    into new_floors
    from generate_series(0, 3) as level left join (
      select each.priority, count(*) as total, max(each.due_at) as last,
             min(each.due_at) filter (where each.verdict <> 'park' and each.id <> all (coalesce(due_taken, '{}'))) as first_left
      from unnest(due_ids, due_priorities, due_verdicts, due_times) as each (id, priority, verdict, due_at)
      where each.due_at is not null group by each.priority
    ) as due on due.priority = level;
  end if;

  if parked is not null then
    update holdfast.runs set due_at = 'infinity' where runs.id = any (parked);
  end if;
  new_claim := nextval('holdfast.run_claims_seq');
  taken_rows := fresh_taken;
  if fresh_bundles is not null then
    -- Of what the cursor passes everything is taken, but for the runs of jobs that aren't active.
    select coalesce(range_agg(int8range(part.first, part.last, '[]')) filter (where part.is_active is not false), '{}'),
           array_agg(part.bundle) filter (where part.bundle = part.last)
    into taken_bundled, passed_bundles
    from (
      select fresh.bundle, fresh.is_active, min(fresh.id) as first, max(fresh.id) as last
      from unnest(fresh_ids, fresh_bundles, fresh_priorities, fresh_active) as fresh (id, bundle, priority, is_active)
      where fresh.bundle is not null and fresh.id <= new_cursors[fresh.priority + 1] group by 1, 2
    ) as part;
    taken_rows := array(
      select fresh.id from unnest(fresh_ids, fresh_bundles, fresh_priorities, fresh_active) as fresh (id, bundle, priority, is_active)
      where fresh.bundle is null and fresh.id <= new_cursors[fresh.priority + 1] and fresh.is_active is not false
    );
    if parked is not null then
      insert into holdfast.runs (id, lane_id, job_id, priority, due_at)
      select fresh.id, lane, fresh.job, fresh.priority, 'infinity'
      from unnest(fresh_ids, fresh_bundles, fresh_jobs, fresh_priorities, fresh_active) as fresh (id, bundle, job, priority, is_active)
      where fresh.bundle is not null and fresh.id <= new_cursors[fresh.priority + 1] and fresh.is_active is false;
    end if;
    delete from holdfast.run_bundles as passed where passed.lane_id = lane and passed.last_id = any (passed_bundles);
  end if;
  if due_taken is not null then
    update holdfast.runs set claim_id = new_claim where runs.id = any (due_taken);
  end if;
  with held as (
    insert into holdfast.run_claims (id, lane_id, worker, request, run_ids, bundled)
    select new_claim, lane, me, claim_runs.request, coalesce(due_taken, '{}') || taken_rows, taken_bundled where taken > 0
  ), former as (
    delete from holdfast.queue_cursors as old where old.lane_id = lane and old.seq = state.seq
  )
  insert into holdfast.queue_cursors (lane_id, seq, cursors, floors, horizon, gap_xids, gap_ids, gap_floors, tokens, tokens_at)
  values (lane, new_claim, new_cursors, new_floors, state.new_horizon, kept_xids, kept_ids, kept_floors, state.tokens - taken, state.tokens_at);

  if due_taken is not null then
    return query
    select new_claim, run.id, coalesce(run.message_id, run.id), run.job_id, run.attempt, run.crashes,
           extract(epoch from run.expires_at)::double precision * 1000, message.body::text, message.correlation_id, message.headers,
           message.metadata, null::text, null::text, null::text, null::text, null::text, null::jsonb, null::double precision, null::bigint,
           null::bigint
    from unnest(due_taken) with ordinality as chosen (id, place) join holdfast.runs as run on run.id = chosen.id
    left join lateral (
      select stored.body, stored.correlation_id, stored.headers, stored.metadata
      from holdfast.messages as stored where stored.id = coalesce(run.message_id, run.id)
      union all
      select kept.body, kept.correlation_id, kept.headers, kept.metadata
      from holdfast.messages_kept as kept where kept.id = coalesce(run.message_id, run.id)
      limit 1
    ) as message on true
    order by chosen.place;
  end if;
  claim := new_claim;
  if fresh_taken is not null then
    if cardinality(fresh_taken) < cardinality(fresh_ids) then
      select array_agg(run.job order by run.place), array_agg(run.expiry order by run.place) into fresh_jobs, fresh_expiries
      from unnest(fresh_ids, fresh_jobs, fresh_expiries) with ordinality as run (id, job, expiry, place) where run.id = any (fresh_taken);
    end if;
    fresh_run_ids := array_to_string(fresh_taken, ',');
    fresh_run_jobs := array_to_string(fresh_jobs, ',');
    if array_remove(fresh_expiries, null) <> '{}' then
      fresh_run_expiries := (
        select string_agg(coalesce(round(extract(epoch from each.at) * 1000)::text, ''), ',' order by each.place)
        from unnest(fresh_expiries) with ordinality as each (at, place)
      );
    end if;
    select read.ids, read.texts, read.extras into body_ids, bodies, body_extras from holdfast.read_bodies(fresh_taken) as read;
  end if;
  if taken < wanted then
    wait_ms := case
      when late > 0 or parked is not null then 0
      when taken = room then limit_ms
      when has_others or first_due_at is not null then holdfast.next_due_ms(lane, targets)
    end;
    xmin_seen := pg_snapshot_xmin(seen)::text::bigint;
    next_seen := seen_next;
  end if;
  return next;
end $$;

-- Stores one plain run as claimed already, by a sleeping worker in the process of whoever enqueues: it starts when that hears of the commit, without
-- a bell and a second transaction. A run that has to wait for anything is stored like any other, and `claim` is null then; so is one whose worker
-- may not have it. It needs neither a row nor the cursor and the lock of the queue: the claim has it like a run of a bundle. `request`: see return_claim.
create function holdfast.accept_claimed_run(
  job_name text, body text, me integer, request bigint, out run bigint, out claim bigint, out job integer, out lane integer
)
language plpgsql as $$
#variable_conflict use_variable
begin
  -- Whoever takes this worker's runs from it waits for us, but we don't wait for him. What is read must be read after that, in another statement.
  if pg_try_advisory_xact_lock_shared(hashtext('holdfast.incarnation'), me) then
    with facts as materialized (
      select known.id as job_id, known.queue_id,
             case when holdfast.id_at(clock_timestamp()) - ids.last_value > 4096 * 5000 then holdfast.advance_ids() end as is_advanced
      from holdfast.workers as worker
      join holdfast.jobs as known on known.name = job_name and known.queue_id = any (worker.lanes)
      join holdfast.queues as queue on queue.id = known.queue_id
      cross join holdfast.ids
      where worker.incarnation = me and worker.state = 'active' and worker.min_request <= request
        and known.state = 'active' and not known.settings ?| '{priority,expiresAfterMs}'
        and queue.state = 'active' and queue.concurrency is null and queue.rate_per_second is null
        and octet_length(body) <= (select value::text::bigint from holdfast.settings where name = 'max_payload_bytes')
        and (select value::text::bigint from holdfast.settings where name = 'max_pending') not between 1 and holdfast.owed_overall()
    ), drawn as materialized (
      select nextval('holdfast.ids') as run_id, nextval('holdfast.run_claims_seq') as claim_id, facts.* from facts
    ), stored as (
      insert into holdfast.messages (id, size, is_run, type, body)
      select drawn.run_id, octet_length(body), true, job_name, body::json from drawn
    ), claimed as (
      insert into holdfast.run_claims (id, lane_id, worker, request, run_ids, bundled)
      select drawn.claim_id, drawn.queue_id, me, request, '{}', int8multirange(int8range(drawn.run_id, drawn.run_id, '[]')) from drawn
    )
    select drawn.run_id, drawn.claim_id, drawn.job_id, drawn.queue_id into run, claim, job, lane from drawn;
  end if;
  if run is null then
    select accepted into run from holdfast.accept_runs(job_name, array[body]) as accepted;
  end if;
end $$;

-- When the next run of this queue falls due, at the earliest; null: none waits for a time. Indexes: runs_due, runs_suspect, runs_targeted.
create function holdfast.next_due_ms(lane integer, targets text[]) returns double precision
language sql as $$
  select greatest(0, extract(epoch from min(due_at) - clock_timestamp())::double precision * 1000) from (
    select next.due_at from generate_series(0, 3) as level cross join lateral (
      select due_at from holdfast.runs
      where lane_id = lane and priority = level and due_at is not null and target is null and crashes = 0 and due_at > now() and due_at < 'infinity'
      order by due_at limit 1
    ) as next
    union all
    select next.due_at from generate_series(0, 3) as level cross join lateral (
      select due_at from holdfast.runs
      where lane_id = lane and priority = level and crashes > 0 and due_at > now() and due_at < 'infinity'
        and (target is null or target = any (targets))
      order by due_at limit 1
    ) as next
    union all
    select next.due_at from unnest(targets) as wanted cross join lateral (
      select due_at from holdfast.runs
      where lane_id = lane and target = wanted and due_at > now() and due_at < 'infinity' order by due_at limit 1
    ) as next
  ) as waiting
  -- No row, and so null: greatest() alone would make 0 of it, and a worker with nothing to do look again at once, for ever.
  having min(due_at) is not null
$$;

-- Bodies as one text, separated by a character that JSON can't hold unescaped, with their ids; and what else there is of those that have more. Neighbouring
-- ids are read as one range of the primary key: 2.4 µs a body less than one by one.
create function holdfast.read_bodies(wanted bigint[], out ids text, out texts text, out extras jsonb)
language plpgsql stable as $$
declare
  total integer := cardinality(wanted);
  low bigint := wanted[1];
  high bigint := wanted[1];
  read integer;
  kept record;
begin
  if total > 1 then
    select min(each), max(each) into low, high from unnest(wanted) as each;
  end if;
  if high - low < 3 * total then
    select count(*), string_agg(message.id::text, ','), string_agg(message.body::text, chr(30)),
           jsonb_object_agg(message.id, jsonb_build_array(message.correlation_id, message.headers, message.metadata))
             filter (where coalesce(message.correlation_id, message.headers::text, message.metadata::text) is not null)
    into read, ids, texts, extras
    from (
      select * from holdfast.messages as stored where stored.id >= low and stored.id <= high limit high - low + 1
    -- A join, because a search in an array that isn't a constant is linear.
    ) as message join unnest(wanted) as asked (id) on asked.id = message.id;
  else
    select count(*), string_agg(message.id::text, ','), string_agg(message.body::text, chr(30)),
           jsonb_object_agg(message.id, jsonb_build_array(message.correlation_id, message.headers, message.metadata))
             filter (where coalesce(message.correlation_id, message.headers::text, message.metadata::text) is not null)
    into read, ids, texts, extras
    from holdfast.messages as message where message.id = any (wanted);
  end if;
  if read < total then
    select string_agg(message.id::text, ',') as ids, string_agg(message.body::text, chr(30)) as texts,
           jsonb_object_agg(message.id, jsonb_build_array(message.correlation_id, message.headers, message.metadata)) as extras
    into kept
    from holdfast.messages_kept as message where message.id = any (wanted) and message.id::text <> all (string_to_array(coalesce(ids, ''), ','));
    if kept.ids is not null then
      ids := concat_ws(',', ids, kept.ids);
      texts := concat_ws(chr(30), texts, kept.texts);
      extras := coalesce(extras, '{}') || kept.extras;
    end if;
  end if;
end $$;
