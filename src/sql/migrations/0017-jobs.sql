-- Jobs, queues, workers and schedules. A queue is a lane that any number of workers share.

create table holdfast.queues (
  id integer primary key default nextval('holdfast.lanes'),
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  -- Runs at once over all workers; null: as many as the workers have slots.
  concurrency integer check (concurrency between 1 and 100000),
  rate_per_second double precision check (rate_per_second > 0),
  state text not null default 'active' check (state in ('active', 'paused')),
  state_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- What code says are `defaults`; what a person sets over the API are `overrides`, and win field by field.
create table holdfast.jobs (
  id integer generated always as identity primary key,
  name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,126}$'),
  queue_id integer not null references holdfast.queues (id),
  -- Where it was before: runs may still wait there, and its workers take from there, too.
  former_queue_ids integer[] not null default '{}',
  -- When it was moved last, and by which transaction; see forget_former_queues.
  moved_at timestamptz,
  moved_by xid8,
  -- Active again: what claims had set aside of it comes back step by step, and has got to this run. Null: all of it has.
  unpark_from bigint,
  defaults jsonb not null default '{}',
  overrides jsonb not null default '{}',
  settings jsonb not null generated always as (defaults || overrides) stored,
  state text not null default 'active' check (state in ('active', 'paused', 'disabled')),
  state_reason text,
  state_changed_at timestamptz not null default now(),
  reenable_at timestamptz,
  -- Failed runs in a row, for auto-disable.
  streak integer not null default 0,
  streak_started_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 70);
create index jobs_reenable on holdfast.jobs (reenable_at) where reenable_at is not null;
create index jobs_queue on holdfast.jobs (queue_id);
create index jobs_unparking on holdfast.jobs (id) where unpark_from is not null;
create index jobs_inactive on holdfast.jobs (queue_id) where state <> 'active';

create function holdfast.note_move() returns trigger
language plpgsql as $$
begin
  new.former_queue_ids := array_append(array_remove(old.former_queue_ids, new.queue_id), old.queue_id);
  new.moved_at := clock_timestamp();
  new.moved_by := pg_current_xact_id();
  return new;
end $$;
create trigger jobs_note_move before update of queue_id on holdfast.jobs
  for each row when (old.queue_id <> new.queue_id) execute function holdfast.note_move();

create function holdfast.ensure_queue(queue_name text) returns integer
language plpgsql as $$
declare
  queue_id integer := (select id from holdfast.queues where name = queue_name);
begin
  if queue_id is null then
    insert into holdfast.queues (name) values (queue_name) on conflict (name) do nothing returning id into queue_id;
    if queue_id is null then
      select id into queue_id from holdfast.queues where name = queue_name;
    end if;
  end if;
  return queue_id;
end $$;

-- Declares jobs as code knows them. Nothing is written when nothing changed, so that every process may do it at its start.
create function holdfast.declare_job(job_name text, job_defaults jsonb) returns integer
language plpgsql as $$
declare
  job holdfast.jobs;
  lane integer;
begin
  select * into job from holdfast.jobs where name = job_name;
  if found and job.defaults = job_defaults then
    return job.id;
  end if;
  lane := holdfast.ensure_queue(coalesce(job.overrides ->> 'queue', job_defaults ->> 'queue', 'default'));
  insert into holdfast.jobs (name, queue_id, defaults) values (job_name, lane, job_defaults)
  on conflict (name) do update set
    defaults = job_defaults, queue_id = lane, updated_at = clock_timestamp()
  returning * into job;
  perform pg_notify('holdfast_jobs', job_name);
  return job.id;
end $$;

-- Sets (or, with null values, takes back) what overrides the code's defaults.
create function holdfast.override_job(job_name text, changes jsonb, actor text default current_user) returns jsonb
language plpgsql as $$
declare
  job holdfast.jobs;
  merged jsonb;
  lane integer;
begin
  select * into job from holdfast.jobs where name = job_name for update;
  if not found then
    raise exception 'there is no job named "%"', job_name using errcode = 'HF030';
  end if;
  select coalesce(jsonb_object_agg(key, value), '{}') into merged from jsonb_each(job.overrides || changes) where value <> 'null';
  lane := holdfast.ensure_queue(coalesce(merged ->> 'queue', job.defaults ->> 'queue', 'default'));
  update holdfast.jobs set overrides = merged, updated_at = clock_timestamp(), queue_id = lane where id = job.id;
  perform holdfast.audit(actor, 'job.updated', 'job:' || job_name, jsonb_build_object('before', job.overrides, 'after', merged));
  perform pg_notify('holdfast_jobs', job_name);
  return merged;
end $$;

-- Active, paused or disabled. Runs of a job that isn't active are kept; activating it lets those that a claim set aside come back.
create function holdfast.set_job_state(
  job_name text, new_state text, why text default null, actor text default current_user, reenable_ms double precision default null
) returns text
language plpgsql as $$
declare
  job holdfast.jobs;
begin
  if new_state not in ('active', 'paused', 'disabled') then
    raise exception 'a job can be made active, paused or disabled, not %', new_state using errcode = '22023';
  end if;
  select * into job from holdfast.jobs where name = job_name for update;
  if not found then
    raise exception 'there is no job named "%"', job_name using errcode = 'HF030';
  end if;
  if job.state = new_state then
    -- Whoever disables it now wants it so for good, though a cooldown is running.
    if reenable_ms is null and job.reenable_at is not null then
      update holdfast.jobs set reenable_at = null, state_reason = why, updated_at = clock_timestamp() where id = job.id;
      perform holdfast.audit(actor, 'job.' || new_state, 'job:' || job_name, jsonb_build_object('from', job.state, 'reason', why));
    end if;
    return new_state;
  end if;
  -- Claims that saw the old state end first; later ones see the new one.
  perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane)
  from (select unnest(job.queue_id || job.former_queue_ids) as lane order by lane) as shut;
  update holdfast.jobs set
    state = new_state, state_reason = why, state_changed_at = clock_timestamp(), updated_at = clock_timestamp(),
    reenable_at = clock_timestamp() + make_interval(secs => reenable_ms / 1000), streak = 0, streak_started_at = null, unpark_from = null
  where id = job.id;
  if new_state = 'active' then
    perform holdfast.unpark_job(job.id);
  end if;
  perform holdfast.audit(actor, 'job.' || new_state, 'job:' || job_name, jsonb_build_object('from', job.state, 'reason', why));
  perform pg_notify('holdfast_jobs', job_name);
  return new_state;
end $$;

create function holdfast.set_queue_state(queue_name text, new_state text, why text default null, actor text default current_user) returns text
language plpgsql as $$
declare
  lane integer;
begin
  if new_state not in ('active', 'paused') then
    raise exception 'a queue can be made active or paused, not %', new_state using errcode = '22023';
  end if;
  update holdfast.queues set state = new_state, state_reason = why, updated_at = clock_timestamp()
  where name = queue_name returning id into lane;
  if not found then
    raise exception 'there is no queue named "%"', queue_name using errcode = 'HF031';
  end if;
  perform holdfast.audit(actor, 'queue.' || new_state, 'lane:' || lane, jsonb_build_object('name', queue_name, 'reason', why));
  perform pg_notify('holdfast_queue_' || lane, '');
  return new_state;
end $$;

create function holdfast.set_queue_limits(queue_name text, new_concurrency integer, new_rate double precision, actor text default current_user)
returns integer
language plpgsql as $$
declare
  lane integer := holdfast.ensure_queue(queue_name);
begin
  update holdfast.queues set concurrency = new_concurrency, rate_per_second = new_rate, updated_at = clock_timestamp() where id = lane;
  perform holdfast.audit(actor, 'queue.updated', 'lane:' || lane,
                         jsonb_build_object('name', queue_name, 'concurrency', new_concurrency, 'ratePerSecond', new_rate));
  perform pg_notify('holdfast_queue_' || lane, '');
  return lane;
end $$;

-- Counts failed runs in a row, and disables the job when there are too many within its window.
create function holdfast.record_job_failures(job integer, failures integer, actor text) returns boolean
language plpgsql as $$
declare
  current holdfast.jobs;
  policy jsonb;
  threshold integer;
  is_old boolean;
begin
  select * into current from holdfast.jobs where id = job for update;
  policy := current.settings -> 'autoDisable';
  threshold := (policy ->> 'threshold')::integer;
  if not found or threshold is null then
    return false;
  end if;
  is_old := coalesce(
    current.streak_started_at < clock_timestamp() - make_interval(secs => (policy ->> 'windowMs')::double precision / 1000), true
  ) or current.streak = 0;
  current.streak := failures + case when is_old then 0 else current.streak end;
  update holdfast.jobs set
    streak = current.streak, streak_started_at = case when is_old then clock_timestamp() else streak_started_at end
  where id = job;
  if current.streak >= threshold and current.state = 'active' then
    perform holdfast.set_job_state(
      current.name, 'disabled', format('%s runs failed in a row', current.streak), actor, (policy ->> 'reenableAfterMs')::double precision
    );
    return true;
  end if;
  return false;
end $$;

create function holdfast.reenable_jobs(actor text) returns setof text
language sql as $$
  select name from (
    select name, holdfast.set_job_state(name, 'active', 're-enabled after its cooldown', actor)
    from holdfast.jobs where reenable_at <= now() and state = 'disabled'
  ) as reenabled
$$;

-- Workers. One heartbeat each; the lease of everything a worker has claimed is its row here.
create table holdfast.workers (
  incarnation integer primary key,
  name text not null,
  version text not null,
  host text not null,
  pid integer not null,
  lanes integer[] not null,
  tags text[] not null default '{}',
  concurrency integer not null,
  lease_ms integer not null,
  beat bigint not null default 0,
  is_asleep boolean not null default false,
  state text not null default 'active' check (state in ('active', 'draining', 'stopping')),
  running integer not null default 0,
  -- Claims with a lower number are refused: the worker has given up waiting for their answer.
  min_request bigint not null default 0,
  started_at timestamptz not null default now(),
  beat_at timestamptz not null default now()
) with (fillfactor = 50);

create table holdfast.run_cancellations (
  run_id bigint primary key,
  worker integer not null,
  reason text,
  requested_at timestamptz not null default now()
);
create index run_cancellations_worker on holdfast.run_cancellations (worker);

create function holdfast.register_worker(
  worker_name text, worker_version text, worker_host text, worker_pid integer, queue_names text[], worker_tags text[],
  worker_concurrency integer, worker_lease_ms integer
) returns table (incarnation integer, lanes integer[])
language sql as $$
  insert into holdfast.workers as worker (incarnation, name, version, host, pid, lanes, tags, concurrency, lease_ms)
  select nextval('holdfast.incarnations'), worker_name, worker_version, worker_host, worker_pid,
         array(select holdfast.ensure_queue(name) from unnest(queue_names) with ordinality as given (name, place) order by place),
         worker_tags, worker_concurrency, worker_lease_ms
  returning worker.incarnation, worker.lanes
$$;

-- Says that this worker lives; returns whether somebody declared it dead, what its peers' counters stand at, and what to cancel. A beat needn't survive
-- the server: nobody waits for the disk because of it.
create function holdfast.beat_worker(me integer, now_running integer)
returns table (is_known boolean, worker_state text, peers jsonb, cancelled jsonb)
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update holdfast.workers set beat = beat + 1, beat_at = clock_timestamp(), running = now_running where incarnation = me
  returning state into worker_state;
  is_known := found;
  peers := holdfast.worker_beats();
  select jsonb_agg(jsonb_build_object('id', run_id, 'reason', reason)) into cancelled
  from holdfast.run_cancellations where worker = me;
  return next;
end $$;

create function holdfast.worker_beats() returns jsonb
language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('incarnation', incarnation, 'beat', beat, 'leaseMs', lease_ms)), '[]') from holdfast.workers
$$;

create function holdfast.drain_worker(worker integer, actor text default current_user) returns boolean
language plpgsql as $$
begin
  update holdfast.workers set state = 'draining' where incarnation = worker and state = 'active';
  if not found then
    return false;
  end if;
  perform holdfast.audit(actor, 'worker.draining', 'worker:' || worker);
  perform pg_notify('holdfast_worker_' || worker, '');
  return true;
end $$;

-- Schedules. `next_at` is the authority: who moves it on, from exactly the time he read, fires it.
create table holdfast.schedules (
  id integer generated always as identity primary key,
  name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,126}$'),
  job_id integer not null references holdfast.jobs (id),
  cron text,
  timezone text not null default 'UTC',
  every_ms bigint check (every_ms >= 1000),
  run_at timestamptz,
  payload json not null default 'null',
  options jsonb,
  overlap text not null default 'skip' check (overlap in ('skip', 'queue', 'allow')),
  catch_up text not null default 'one' check (catch_up in ('one', 'all', 'none')),
  is_paused boolean not null default false,
  pause_reason text,
  next_at timestamptz,
  last_at timestamptz,
  last_run_id bigint,
  fired bigint not null default 0,
  skipped bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(cron, every_ms, run_at) = 1)
) with (fillfactor = 70);
create index schedules_due on holdfast.schedules (next_at) where next_at is not null and not is_paused;
create index schedules_job on holdfast.schedules (job_id);

-- `fires`: one object per schedule {id, expected, next, times}. Each is moved on by compare-and-swap, so that any number of nodes fires
-- it once, also when their time-zone data disagree. Returns how many runs were made.
create function holdfast.fire_schedules(fires jsonb) returns integer
language plpgsql as $$
declare
  given record;
  schedule holdfast.schedules;
  job_name text;
  run_id bigint;
  run_options jsonb;
  made integer := 0;
begin
  for given in
    select * from jsonb_to_recordset(fires) as fire (id integer, expected timestamptz, next timestamptz, times timestamptz[]) order by id
  loop
    update holdfast.schedules as stored set next_at = given.next, last_at = coalesce(given.times[cardinality(given.times)], stored.last_at)
    -- By the millisecond, which is as fine as the time was read.
    where stored.id = given.id and date_trunc('milliseconds', stored.next_at) = given.expected and not stored.is_paused
    returning * into schedule;
    if not found then
      continue;
    end if;
    select name into job_name from holdfast.jobs where id = schedule.job_id;
    for place in 1..coalesce(cardinality(given.times), 0) loop
      if schedule.overlap = 'skip' and exists (select from holdfast.runs where id = schedule.last_run_id) then
        update holdfast.schedules set skipped = skipped + 1 where id = schedule.id;
        continue;
      end if;
      run_options := coalesce(schedule.options, '{}') || jsonb_build_object(
        'metadata', coalesce(schedule.options -> 'metadata', '{}')
          || jsonb_build_object('schedule', schedule.name, 'scheduledFor', to_char(given.times[place] at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      );
      if schedule.overlap = 'queue' then
        run_options := run_options || jsonb_build_object('orderingKey', 'schedule:' || schedule.name);
      end if;
      begin
        select accepted into run_id from holdfast.accept_runs(job_name, array[schedule.payload::text], array[run_options]) as accepted;
        schedule.last_run_id := run_id;
        made := made + 1;
        update holdfast.schedules set last_run_id = run_id, fired = fired + 1 where id = schedule.id;
      exception when others then
        -- What passes by itself (a deadlock, a full disk, a shutdown, as much owed as may be) takes the whole round back: the tick is still owed.
        if left(sqlstate, 2) in ('40', '53', '55', '57', '58') then
          raise;
        end if;
        -- One schedule that can't be fired (options that nobody knows any more) stops no other.
        perform holdfast.audit('holdfast', 'schedule.failed', 'schedule:' || schedule.name,
                               jsonb_build_object('for', given.times[place], 'error', sqlerrm));
      end;
    end loop;
  end loop;
  return made;
end $$;

-- Rounds that one of all processes makes: whoever moves the time on.
create table holdfast.keeper_rounds (
  name text primary key,
  next_at timestamptz not null,
  -- Where a look that is too long for one round goes on, by the number of a run.
  position bigint not null default 0
) with (fillfactor = 50);
