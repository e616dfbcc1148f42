-- Bundles of runs, see docs/decisions/0016-bundles.md. A run of a bundle waits in `run_bundles`, or is held in `bundled` of a claim, or has been given a
-- row of its own in `runs`; never two of them. Waiting ones move under the lock of their queue's claims, held ones under that of the claim's row.

-- What is left of each bundle. One that lies behind the cursor as a whole was committed late: all of it waits.
create view holdfast.waiting_bundles as
  select bundle.lane_id, bundle.priority, bundle.last_id, bundle.job_id, bundle.published_by,
         case when bundle.last_id <= passed.id then bundle.first_id else greatest(bundle.first_id, passed.id + 1) end as first_id
  from holdfast.run_bundles as bundle cross join lateral (
    select coalesce(
      (
        select cursor.cursors[bundle.priority + 1] from holdfast.queue_cursors as cursor
        where cursor.lane_id = bundle.lane_id order by cursor.seq desc limit 1
      ), 0
    ) as id
  ) as passed;

-- What is left of the bundle that this run waits in. Bundles don't overlap, so that only the first that ends behind it can be the one; the rest of the
-- line isn't looked at. Index: run_bundles_last_id_key.
create function holdfast.bundle_of(run bigint) returns setof holdfast.waiting_bundles
language sql stable as $$
  select * from (select * from holdfast.waiting_bundles where last_id >= run order by last_id limit 1) as next where first_id <= run
$$;

-- The job of a run that a claim holds without a row: its message has the name. (Where that is gone, any job will do to bury it, best one of the queue's.)
create function holdfast.job_of_bundled(run bigint, lane integer, out job_id integer, out priority smallint)
language sql stable as $$
  select job.id, coalesce((job.settings ->> 'priority')::smallint, 0)
  from holdfast.jobs as job
  where job.id = coalesce(
    (
      select named.id from holdfast.jobs as named
      where named.name = (
        select type from holdfast.messages where id = run union all select type from holdfast.messages_kept where id = run limit 1
      )
    ),
    (select other.id from holdfast.jobs as other order by other.queue_id = lane desc, other.id limit 1)
  )
$$;

-- Runs without a row, as if they had one: the newest first, below `before` and from `lowest` on, in these queues and of this job (null: of all).
-- A series is made as a whole, however few of it are wanted: each says where it ends.
create function holdfast.bundled_runs(lanes integer[], job integer, before bigint, max_rows integer, lowest bigint default 0)
returns setof holdfast.runs
language sql stable as $$
  with waiting as (
    select each.id, bundle.lane_id, bundle.job_id, bundle.priority, null::bigint as claim_id
    from (
      select * from (
        -- The one that `before` may cut, and the whole ones below.
        select * from holdfast.bundle_of(before - 1)
        union all
        (
          select * from holdfast.waiting_bundles
          where last_id < before - 1 and last_id >= lowest and (lanes is null or lane_id = any (lanes)) and (job is null or job_id = job)
          order by last_id desc limit max_rows
        )
      ) as below
      where (lanes is null or lane_id = any (lanes)) and (job is null or job_id = job)
      order by last_id desc limit max_rows
    ) as bundle
    cross join lateral (
      select id from generate_series(
        least(bundle.last_id, before - 1), greatest(bundle.first_id, lowest, least(bundle.last_id, before - 1) - max_rows + 1), -1
      ) as id limit max_rows
    ) as each
    limit max_rows
  ), held as (
    select each.id, claim.lane_id, claim.id as claim_id
    from holdfast.run_claims as claim cross join unnest(claim.bundled * int8multirange(int8range(lowest, before))) as part
    -- One part may have runs of several jobs.
    cross join lateral (
      select id from generate_series(
        upper(part) - 1, case when job is null then greatest(lower(part), upper(part) - max_rows) else lower(part) end, -1
      ) as id limit case when job is null then max_rows end
    ) as each
    where claim.bundled && int8range(lowest, before) and (lanes is null or claim.lane_id = any (lanes))
    order by each.id desc limit case when job is null then max_rows end
  )
  select id, null::xid8, lane_id, job_id, 0, 0::smallint, priority, 1::smallint, null::bigint, claim_id, null::timestamptz, null::timestamptz,
         null::timestamptz, null::double precision, null::bigint, null::text, null::text, null::text
  from (
    select id, lane_id, job_id, priority, claim_id from waiting
    union all
    (
      -- Their jobs are looked up, the newest first, until there are enough; nobody holds more than a few thousand.
      select held.id, held.lane_id, its.job_id, its.priority, held.claim_id
      from held cross join lateral holdfast.job_of_bundled(held.id, held.lane_id) as its where job is null or its.job_id = job limit max_rows
    )
  ) as bundled
  order by id desc limit max_rows
$$;

-- Everything that is owed, a row for each run, for people who look by hand: it unfolds all bundles.
create view holdfast.owed_runs as
  select * from holdfast.runs union all select * from holdfast.bundled_runs(null, null, 9223372036854775807, 2147483647);

-- Rows are counted to a million.
create function holdfast.count_owed_runs(lane integer) returns bigint
language sql stable as $$
  select (select count(*) from (select from holdfast.runs where lane_id = lane limit 1000000) as counted)
    + (select coalesce(sum(last_id - first_id + 1), 0)::bigint from holdfast.waiting_bundles where lane_id = lane)
    + (select coalesce(sum(upper(part) - lower(part)), 0)::bigint
       from holdfast.run_claims as claim cross join unnest(claim.bundled) as part where claim.lane_id = lane)
$$;

-- Which numbers of this range runs without a row have. Indexes: run_bundles_last_id_key.
create function holdfast.bundled_ids(first_id bigint, end_id bigint) returns setof bigint
language sql stable as $$
  select generate_series(greatest(bundle.first_id, bundled_ids.first_id), least(bundle.last_id, end_id - 1))
  from holdfast.waiting_bundles as bundle where bundle.last_id >= bundled_ids.first_id and bundle.first_id < end_id
  union all
  select generate_series(lower(part), upper(part) - 1)
  from holdfast.run_claims as claim
  cross join unnest(claim.bundled * int8multirange(int8range(bundled_ids.first_id, end_id))) as part
$$;

-- Gives runs that these claims hold without a row (`chosen`, or all of them) one each, as claimed by name: from then on they are like any other.
create function holdfast.take_out_of_claims(claims bigint[], chosen int8multirange default null) returns void
language plpgsql as $$
declare
  held record;
  taken int8multirange;
begin
  for held in
    select id, lane_id, bundled from holdfast.run_claims where id = any (claims) and bundled <> '{}' order by id for update
  loop
    taken := held.bundled * coalesce(chosen, held.bundled);
    continue when isempty(taken);
    insert into holdfast.runs (id, lane_id, job_id, priority, claim_id, due_at)
    select run, held.lane_id, job.job_id, job.priority, held.id, clock_timestamp()
    from unnest(taken) as part cross join generate_series(lower(part), upper(part) - 1) as run
    cross join lateral holdfast.job_of_bundled(run, held.lane_id) as job;
    update holdfast.run_claims set
      bundled = bundled - taken,
      run_ids = run_ids || array(select generate_series(lower(part), upper(part) - 1) from unnest(taken) as part)
    where id = held.id;
  end loop;
end $$;

-- Gives one run that has no row a row, wherever it is; returns its queue, or null when it isn't owed.
create function holdfast.take_out(run_id bigint) returns integer
language plpgsql as $$
declare
  alone constant int8multirange := int8multirange(int8range(run_id, run_id, '[]'));
  bundle record;
  lane integer;
begin
  loop
    perform holdfast.take_out_of_claims(array(select id from holdfast.run_claims where bundled @> run_id), alone);
    select lane_id into lane from holdfast.runs where id = run_id;
    if found then
      return lane;
    end if;
    select lane_id into lane from holdfast.bundle_of(run_id);
    if not found then
      -- Unless it has just moved on into a claim.
      continue when exists (select from holdfast.run_claims where bundled @> run_id);
      return (select lane_id from holdfast.runs where id = run_id);
    end if;
    begin
      perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
      select * into bundle from holdfast.bundle_of(run_id);
      if not found then
        -- Claimed meanwhile. Whoever settles it may have the claim's row and come for the queue: we let go of that first.
        raise lock_not_available;
      end if;
      perform holdfast.cut_bundle(bundle.lane_id, bundle.last_id, run_id, 1, clock_timestamp());
      return lane;
    exception when lock_not_available then
    end;
  end loop;
end $$;

-- Ends those of these runs that wait in bundles though they have succeeded: whoever ran them had claimed them, but this server has taken over from one
-- that failed, or was restored, and doesn't know of it. Returns how many.
create function holdfast.end_waiting(run_ids bigint[]) returns integer
language plpgsql as $$
declare
  waiting bigint[] := array(select each from unnest(run_ids) as each where exists (select from holdfast.bundle_of(each)) order by each);
  ended integer;
begin
  perform holdfast.take_out(each) from unnest(waiting) as each;
  delete from holdfast.runs where id = any (waiting);
  get diagnostics ended = row_count;
  return ended;
end $$;

-- Makes due rows of some neighbours in a bundle; what is left before and after them stays. Under the lock of the queue's claims.
create function holdfast.cut_bundle(lane integer, bundle bigint, first_run bigint, total integer, due timestamptz) returns void
language plpgsql as $$
declare
  whole record;
  last_run bigint := first_run + total - 1;
begin
  select * into strict whole from holdfast.waiting_bundles where last_id = bundle;
  insert into holdfast.runs (id, published_by, lane_id, job_id, priority, due_at)
  select run, whole.published_by, lane, whole.job_id, whole.priority, due from generate_series(first_run, last_run) as run;
  if first_run > whole.first_id then
    insert into holdfast.run_bundles (lane_id, priority, first_id, last_id, job_id, published_by)
    values (lane, whole.priority, whole.first_id, first_run - 1, whole.job_id, whole.published_by);
  end if;
  if last_run < bundle then
    update holdfast.run_bundles set first_id = last_run + 1 where last_id = bundle;
  else
    delete from holdfast.run_bundles where last_id = bundle;
  end if;
end $$;

-- Bundles of these transactions that the cursor has passed without seeing them. Index: run_bundles_pkey.
create function holdfast.late_bundles(lane integer, ended xid8[], above bigint, cursors bigint[]) returns setof holdfast.run_bundles
language sql stable as $$
  select late.* from generate_series(0, 3) as level cross join lateral (
    select * from holdfast.run_bundles as bundle
    where bundle.lane_id = lane
      and (bundle.priority, bundle.last_id) > (level, above) and (bundle.priority, bundle.last_id) <= (level, cursors[level + 1])
      and bundle.published_by = any (ended)
    order by bundle.priority, bundle.last_id
  ) as late
$$;

-- Late ones join the due line, a bounded number at a time; returns how many.
create function holdfast.take_out_late(lane integer, ended xid8[], above bigint, cursors bigint[], due timestamptz) returns integer
language plpgsql as $$
declare
  max_runs constant integer := 5000;
  taken integer := 0;
  total integer;
  late record;
begin
  for late in select * from holdfast.late_bundles(lane, ended, above, cursors) loop
    total := least(late.last_id - late.first_id + 1, max_runs - taken);
    perform holdfast.cut_bundle(lane, late.last_id, late.first_id, total, due);
    taken := taken + total;
    exit when taken = max_runs;
  end loop;
  return taken;
end $$;
