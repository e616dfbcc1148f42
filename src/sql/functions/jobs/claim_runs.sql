-- A row for each due run that was claimed, and a last one without an id: it holds the fresh ones, as few long texts instead of many rows (which
-- halves what a claim costs on both sides), and, when fewer came than were wanted, when something falls due (or a limit eases) and which
-- transactions the look saw. `suspect_room`: how many runs that were there at a crash may be taken. `may_take_deadly`: whether one
-- of those that were there twice may be among them. `request`: the worker's number for this call, see return_claim.
-- Each statement in here takes its time, also when it finds nothing: what an idle queue doesn't need is passed over.
create or replace function holdfast_internal.claim_runs(
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
  perform holdfast_internal.commit_durably();
  -- The worker's lock before the queue's, and both before anything is read.
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.incarnation'), me), pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
  select worker.name as worker_name, worker.tags as worker_tags, queue.state as queue_state, queue.concurrency, queue.rate_per_second,
         exists (select from holdfast_internal.jobs where queue_id = lane and state <> 'active') as has_inactive_jobs,
         -- Read before the snapshot below is taken: who gets his transaction id after that draws higher ones.
         ids.last_value as new_horizon,
         known.seq, coalesce(known.cursors, '{0,0,0,0}') as cursors,
         coalesce(known.floors, array_fill('-infinity'::timestamptz, array[4])) as floors, coalesce(known.horizon, 0) as horizon,
         coalesce(known.gap_xids, '{}') as gap_xids, coalesce(known.gap_ids, '{}') as gap_ids, coalesce(known.gap_floors, '{}') as gap_floors,
         known.tokens, known.tokens_at
  into state
  from holdfast_internal.workers as worker cross join holdfast_internal.ids
  left join holdfast_internal.queues as queue on queue.id = lane
  left join lateral (
    select cursor.* from holdfast_internal.queue_cursors as cursor where cursor.lane_id = lane order by cursor.seq desc limit 1
  ) as known on true
  where worker.incarnation = me and worker.state = 'active' and worker.min_request <= claim_runs.request;
  if not found then
    return;
  end if;
  if state.queue_state is distinct from 'active' then
    xmin_seen := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    next_seen := holdfast_internal.next_transaction(pg_current_snapshot());
    return next;
    return;
  end if;
  if state.concurrency is not null then
    room := least(room, state.concurrency - holdfast_internal.count_claimed(lane));
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
    next_seen := holdfast_internal.next_transaction(pg_current_snapshot());
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
  select pg_current_snapshot(), holdfast_internal.next_transaction(pg_current_snapshot()), array_agg(fresh.id), array_agg(fresh.job_id),
         array_agg(fresh.priority), array_agg(fresh.expires_at),
         case when bool_and(fresh.is_active) is false then array_agg(fresh.is_active) end,
         case when max(fresh.bundle) is not null then array_agg(fresh.bundle) end,
         -- When the first falls due of what waits for nothing but a time; null: none does.
         (
           select min(due.due_at) from generate_series(0, 3) as level cross join lateral (
             select run.due_at from holdfast_internal.runs as run
             where run.lane_id = lane and run.priority = level and run.due_at is not null and run.target is null and run.crashes = 0
               and run.due_at >= state.floors[level + 1] and run.due_at < 'infinity' and run.claim_id is null
             order by run.due_at limit 1
           ) as due
         ),
         -- Whether anything else waits that isn't fresh, now or for a time to come.
         exists (select from holdfast_internal.runs as run where run.lane_id = lane and run.target is not null)
         or exists (
           select from holdfast_internal.runs as run
           where run.lane_id = lane and run.crashes > 0 and run.due_at is not null and run.due_at < 'infinity' and run.claim_id is null
         )
  into seen, seen_next, fresh_ids, fresh_jobs, fresh_priorities, fresh_expiries, fresh_active, fresh_bundles, first_due_at, has_others
  from (
    select candidate.*, job.state = 'active' as is_active
    from generate_series(3, 0, -1) as level cross join lateral (
      (
        select run.id, run.job_id, run.priority, run.expires_at, null::bigint as bundle from holdfast_internal.runs as run
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
          select * from holdfast_internal.run_bundles as known
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
    join holdfast_internal.jobs as job on job.id = candidate.job_id
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
    if exists (select from holdfast_internal.runs where lane_id = lane and target is not null) then
      targets := holdfast_internal.fitting_targets(lane, state.worker_name, state.worker_tags);
    end if;
    with waiting as (
      select candidate.* from generate_series(3, 0, -1) as level cross join lateral (
        select run.* from holdfast_internal.runs as run
        where run.lane_id = lane and run.priority = level and run.due_at is not null and run.target is null and run.crashes = 0
          and run.due_at >= least(state.floors[level + 1], reset_floor) and run.due_at <= looked_at and run.claim_id is null
        order by run.due_at limit wanted for update skip locked
      ) as candidate
      union all
      select candidate.* from unnest(targets) as wanted_target cross join lateral (
        select run.* from holdfast_internal.runs as run
        where run.lane_id = lane and run.target = wanted_target and run.crashes = 0 and run.due_at <= looked_at and run.claim_id is null
        order by run.due_at limit wanted for update skip locked
      ) as candidate
      union all
      select candidate.* from unnest(array[false, true]) as is_deadly cross join lateral (
        select run.* from holdfast_internal.runs as run
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
            select from holdfast_internal.runs as older
            where older.ordering_key = waiting.ordering_key and older.lane_id = lane and older.id < waiting.id
          ) then 'park'
          -- It was committed after a later one of its key, which is out.
          when waiting.ordering_key is not null and exists (
            select from holdfast_internal.runs as later
            where later.ordering_key = waiting.ordering_key and later.lane_id = lane and later.claim_id is not null
          ) then 'leave'
          when waiting.concurrency_key is not null
            and row_number() over (partition by waiting.concurrency_key order by waiting.id) + (
              select count(*) from holdfast_internal.runs as other
              where other.concurrency_key = waiting.concurrency_key and other.lane_id = lane and other.claim_id is not null
            ) > coalesce((job.settings ->> 'concurrencyPerKey')::integer, 1) then 'park'
          when waiting.crashes > 0 and row_number() over (
            partition by waiting.crashes > 0 order by waiting.crashes > 1, waiting.priority desc, waiting.due_at
          ) > suspect_room then 'leave'
          else 'take'
        end as verdict
      -- One whose job was deleted in the moment it was enqueued is taken, and fails.
      from waiting left join holdfast_internal.jobs as job on job.id = waiting.job_id
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
    wait_ms := case when has_others or first_due_at is not null then holdfast_internal.next_due_ms(lane, targets) end;
    xmin_seen := pg_snapshot_xmin(seen)::text::bigint;
    next_seen := seen_next;
    return next;
    return;
  end if;

  if ended is not null and ended_id < (select max(cursor) from unnest(state.cursors) as cursor) then
    -- Late ones join the due line, a bounded number at a time; a gap that isn't through stays open.
    with behind as (
      select candidate.id from generate_series(0, 3) as level cross join lateral (
        select run.id from holdfast_internal.runs as run
        where run.lane_id = lane and run.due_at is null
          and (run.priority, run.id) > (level, ended_id) and (run.priority, run.id) <= (level, state.cursors[level + 1])
          and run.published_by = any (ended)
        order by run.priority, run.id limit 5000 for update skip locked
      ) as candidate
    )
    update holdfast_internal.runs as run set due_at = looked_at - interval '1 microsecond' from behind where run.id = behind.id;
    get diagnostics late = row_count;
    late := late + holdfast_internal.take_out_late(lane, ended, ended_id, state.cursors, looked_at - interval '1 microsecond');
    -- What is left: more than the bound, or a row that somebody held just now.
    if exists (
      select from generate_series(0, 3) as level cross join lateral (
        select from holdfast_internal.runs as run
        where run.lane_id = lane and run.due_at is null
          and (run.priority, run.id) > (level, ended_id) and (run.priority, run.id) <= (level, state.cursors[level + 1])
          and run.published_by = any (ended) limit 1
      ) as behind
    ) or exists (select from holdfast_internal.late_bundles(lane, ended, ended_id, state.cursors)) then
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
    update holdfast_internal.runs set due_at = 'infinity' where runs.id = any (parked);
  end if;
  new_claim := nextval('holdfast_internal.run_claims_seq');
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
      insert into holdfast_internal.runs (id, lane_id, job_id, priority, due_at)
      select fresh.id, lane, fresh.job, fresh.priority, 'infinity'
      from unnest(fresh_ids, fresh_bundles, fresh_jobs, fresh_priorities, fresh_active) as fresh (id, bundle, job, priority, is_active)
      where fresh.bundle is not null and fresh.id <= new_cursors[fresh.priority + 1] and fresh.is_active is false;
    end if;
    delete from holdfast_internal.run_bundles as passed where passed.lane_id = lane and passed.last_id = any (passed_bundles);
  end if;
  if due_taken is not null then
    update holdfast_internal.runs set claim_id = new_claim where runs.id = any (due_taken);
  end if;
  with held as (
    insert into holdfast_internal.run_claims (id, lane_id, worker, request, run_ids, bundled)
    select new_claim, lane, me, claim_runs.request, coalesce(due_taken, '{}') || taken_rows, taken_bundled where taken > 0
  ), former as (
    delete from holdfast_internal.queue_cursors as old where old.lane_id = lane and old.seq = state.seq
  )
  insert into holdfast_internal.queue_cursors (lane_id, seq, cursors, floors, horizon, gap_xids, gap_ids, gap_floors, tokens, tokens_at)
  values (lane, new_claim, new_cursors, new_floors, state.new_horizon, kept_xids, kept_ids, kept_floors, state.tokens - taken, state.tokens_at);

  if due_taken is not null then
    return query
    select new_claim, run.id, coalesce(run.message_id, run.id), run.job_id, run.attempt, run.crashes,
           extract(epoch from run.expires_at)::double precision * 1000, message.body::text, message.correlation_id, message.headers,
           message.metadata, null::text, null::text, null::text, null::text, null::text, null::jsonb, null::double precision, null::bigint,
           null::bigint
    from unnest(due_taken) with ordinality as chosen (id, place) join holdfast_internal.runs as run on run.id = chosen.id
    left join lateral (
      select stored.body, stored.correlation_id, stored.headers, stored.metadata
      from holdfast_internal.messages as stored where stored.id = coalesce(run.message_id, run.id)
      union all
      select kept.body, kept.correlation_id, kept.headers, kept.metadata
      from holdfast_internal.messages_kept as kept where kept.id = coalesce(run.message_id, run.id)
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
    select read.ids, read.texts, read.extras into body_ids, bodies, body_extras from holdfast_internal.read_bodies(fresh_taken) as read;
  end if;
  if taken < wanted then
    wait_ms := case
      when late > 0 or parked is not null then 0
      when taken = room then limit_ms
      when has_others or first_due_at is not null then holdfast_internal.next_due_ms(lane, targets)
    end;
    xmin_seen := pg_snapshot_xmin(seen)::text::bigint;
    next_seen := seen_next;
  end if;
  return next;
end $$;
