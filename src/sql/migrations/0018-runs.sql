-- Runs: what a queue owes. docs/decisions/0010-jobs.md tells why a claim writes one row and not one per run, 0016-bundles.md why most plain
-- runs have no row of their own here: 0022-run-bundles.sql has what gives them one.
--
-- A run waits in one of two lines. FRESH (due_at is null): plain runs, never touched; a cursor per priority passes them in order of
-- id, and whatever it has passed belongs to the claim that lists it. DUE (due_at is set): everything that waits for a time, a key, a worker, or
-- a second try; each is claimed by name, in claim_id. `infinity` = parked: something else brings it back.

create table holdfast.runs (
  id bigint primary key,
  -- The transaction that stored it, because it may commit after the cursor has passed.
  published_by xid8 not null default pg_current_xact_id(),
  lane_id integer not null,
  job_id integer not null,
  attempt integer not null default 0,
  crashes smallint not null default 0,
  priority smallint not null default 0 check (priority between 0 and 3),
  criticality smallint not null default 1,
  -- Null: the message has the run's own number.
  message_id bigint,
  claim_id bigint,
  due_at timestamptz,
  expires_at timestamptz,
  ttl_at timestamptz,
  -- How long it may wait for a worker each time it comes back; null: as its job says.
  ttl_ms double precision,
  dead_letter_id bigint,
  ordering_key text,
  concurrency_key text,
  -- `worker:<name>` or `tags:<a,b>`: who alone may claim it.
  target text
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create index runs_fresh on holdfast.runs (lane_id, priority, id) where due_at is null;
create index runs_due on holdfast.runs (lane_id, priority, due_at) where due_at is not null and target is null and crashes = 0;
-- Those that were there at a crash wait in a line of their own: they go few at a time, and must hold nobody back.
create index runs_suspect on holdfast.runs (lane_id, priority desc, due_at) where due_at is not null and crashes > 0;
create index runs_targeted on holdfast.runs (lane_id, target, due_at) where target is not null;
create index runs_ordered on holdfast.runs (ordering_key, lane_id, id) where ordering_key is not null;
create index runs_ordered_out on holdfast.runs (ordering_key, lane_id) where ordering_key is not null and claim_id is not null;
create index runs_concurrent on holdfast.runs (concurrency_key, lane_id, claim_id, id) where concurrency_key is not null;
create index runs_expiring on holdfast.runs (expires_at) where expires_at is not null;
create index runs_ttl on holdfast.runs (ttl_at) where ttl_at is not null;
create index runs_parked on holdfast.runs (id) where due_at = 'infinity' and claim_id is null;

-- Plain runs that were enqueued together and have neighbouring numbers: one row for all of them, written once, read under the cursor like fresh ones,
-- and gone when it has passed the last. Whatever is peculiar about one of them later (a failure, a cancellation, a crash) makes it a row of `runs`.
create table holdfast.run_bundles (
  lane_id integer not null,
  priority smallint not null check (priority between 0 and 3),
  last_id bigint not null unique,
  first_id bigint not null,
  job_id integer not null,
  published_by xid8 not null,
  primary key (lane_id, priority, last_id)
);

create sequence holdfast.run_claims_seq as bigint;
create table holdfast.run_claims (
  id bigint primary key,
  lane_id integer not null,
  worker integer not null,
  -- The worker's own number for the call that made it.
  request bigint not null default 0,
  claimed_at timestamptz not null default clock_timestamp(),
  run_ids bigint[] not null,
  -- Those of bundles, as long as they are neither settled nor rows of `runs`.
  bundled int8multirange not null default '{}'
);
create index run_claims_worker on holdfast.run_claims (worker);
create index run_claims_lane on holdfast.run_claims (lane_id);

-- Where the claims of a queue have got to. Appended to, the newest row counts, the one before is deleted: an updated row would
-- grow a chain of dead versions beside an open transaction, and every claim would walk it.
create table holdfast.queue_cursors (
  lane_id integer not null,
  seq bigint not null,
  -- By priority, 0 first: the last fresh run that was passed, and the time before which nothing due waits.
  cursors bigint[] not null,
  floors timestamptz[] not null,
  -- Where the id sequence stood before this claim looked.
  horizon bigint not null,
  -- Transactions that were running when this claim looked: what they store may lie behind the cursor. Above which id, and which floor stood then.
  gap_xids xid8[] not null,
  gap_ids bigint[] not null,
  gap_floors timestamptz[] not null,
  tokens double precision,
  tokens_at timestamptz,
  primary key (lane_id, seq)
);

-- Progress and log lines of runs that are still at it; what is final goes into the attempt.
create table holdfast.run_progress (
  run_id bigint primary key,
  attempt integer not null,
  worker integer not null,
  progress jsonb,
  logs jsonb not null default '[]',
  updated_at timestamptz not null default now()
) with (fillfactor = 50);

-- What is wrong with the options of a run, or null; the same rules as in src/core/run-options.ts.
create function holdfast.run_option_problem(options jsonb) returns text
language plpgsql stable as $$
declare
  own constant text[] := array['uniqueKey', 'uniqueForMs', 'concurrencyKey', 'runAt', 'delayMs', 'tags', 'worker', 'requireTags', 'ttlMs',
                               'reason'];
  named text;
begin
  if jsonb_typeof(options) = 'object' and options ?| array['type', 'deliverAt'] then
    return 'a run takes no type, and runAt instead of deliverAt';
  end if;
  named := holdfast.option_problem(
    case when jsonb_typeof(options) <> 'object' then options
         else (options - own) || case when options ? 'runAt' then jsonb_build_object('deliverAt', options -> 'runAt') else '{}' end end
  );
  if named is not null then
    return named;
  end if;
  if not options ?| own then
    return null;
  end if;
  if options ? 'orderingKey' and options ? 'concurrencyKey' then
    return 'a run takes an orderingKey or a concurrencyKey, not both';
  end if;
  if options ? 'worker' and options ? 'requireTags' then
    return 'a run is aimed at a worker or at tags, not both';
  end if;
  if options ? 'runAt' and options ? 'delayMs' then
    return 'a run takes runAt or delayMs, not both';
  end if;
  foreach named in array array['uniqueKey', 'concurrencyKey', 'worker', 'reason'] loop
    if options ? named and (jsonb_typeof(options -> named) <> 'string' or length(options ->> named) not between 1 and 1000) then
      return named || ' must be text of 1 to 1000 characters';
    end if;
  end loop;
  foreach named in array array['delayMs', 'uniqueForMs', 'ttlMs'] loop
    if options ? named and (jsonb_typeof(options -> named) <> 'number' or (options ->> named)::numeric not between 0 and 3155760000000) then
      return named || ' must be a number of milliseconds from 0';
    end if;
  end loop;
  foreach named in array array['tags', 'requireTags'] loop
    if options ? named and (jsonb_typeof(options -> named) <> 'array' or jsonb_array_length(options -> named) not between 1 and 20) then
      return named || ' must be a list of 1 to 20 texts';
    end if;
  end loop;
  return null;
end $$;

create function holdfast.ring_workers(lane integer) returns void
language plpgsql as $$
begin
  if exists (select from holdfast.workers where is_asleep and lane = any (lanes)) then
    perform pg_notify('holdfast_queue_' || lane, '');
  end if;
end $$;

-- The one way in for runs. `run_options` is null or holds one entry (or null) per body. A run and its message share their number. For a single
-- plain run each statement in here counts, so that one reads all that there is to know. The numbers come back as `ids`, in the order of the bodies; or,
-- when they rise in it, as the set of them.
create function holdfast.accept_run_bodies(
  job_name text, bodies text[], run_options jsonb[], out ids bigint[], out run_set int8multirange
)
language plpgsql as $$
declare
  -- Before the ids: a claim whose snapshot is older knows that these ids lie beyond its horizon. And before the look at who sleeps: a worker
  -- that falls asleep unseen goes on looking until this transaction has ended.
  own_transaction xid8 := pg_current_xact_id();
  total integer := coalesce(cardinality(bodies), 0);
  facts record;
  worst record;
  drawn bigint[];
begin
  select job.id, job.queue_id, job.settings, ids.last_value as last_id,
         (select value::text::bigint from holdfast.settings where name = 'max_payload_bytes') as max_bytes,
         (select value::text::bigint from holdfast.settings where name = 'max_pending')
           between 1 and holdfast.owed_overall() + total - 1 as is_too_much,
         exists (select from holdfast.workers where is_asleep and job.queue_id = any (lanes)) as has_sleepers
  into facts
  from holdfast.jobs as job cross join holdfast.ids where job.name = job_name;
  if not found then
    raise exception 'there is no job named "%"', job_name using errcode = 'HF030',
      hint = 'A job is known once a worker or a process with its definition has started, or after holdfast.declare_job.';
  end if;
  if total = 0 then
    return;
  end if;
  if run_options is not null then
    if cardinality(run_options) <> total then
      raise exception 'there are % bodies but % sets of options', total, cardinality(run_options) using errcode = 'HF002';
    end if;
    select at, problem into worst
    from unnest(run_options) with ordinality as given (option, at), holdfast.run_option_problem(option) as problem
    where option is not null and problem is not null
    order by at limit 1;
    if found then
      raise exception 'run %: %', worst.at, worst.problem using errcode = 'HF002';
    end if;
  end if;
  if (total = 1 and octet_length(bodies[1]) > facts.max_bytes)
    or (total > 1 and (select max(octet_length(body)) from unnest(bodies) as body) > facts.max_bytes) then
    select octet_length(body) as bytes, at into worst
    from unnest(bodies) with ordinality as given (body, at) where octet_length(body) > facts.max_bytes limit 1;
    if found then
      raise exception 'the payload of run % takes % bytes; the limit is %', worst.at, worst.bytes, facts.max_bytes
        using errcode = 'HF003', hint = 'Send a reference to the data instead of the data, or raise max_payload_bytes.';
    end if;
  end if;
  if facts.is_too_much then
    perform holdfast.check_bound(total);
  end if;

  if holdfast.id_at(clock_timestamp()) - facts.last_id > 4096 * 5000 then
    perform holdfast.advance_ids();
  end if;
  if run_options is null and total > 1 and not facts.settings ? 'expiresAfterMs' then
    drawn := array(select nextval('holdfast.ids') from generate_series(1, total));
    insert into holdfast.messages (id, size, is_run, type, body)
    select given.id, octet_length(given.body), true, job_name, given.body::json from unnest(drawn, bodies) as given (id, body);
    -- Numbers that others drew meanwhile lie between two bundles, never within one.
    run_set := holdfast.id_ranges(drawn);
    insert into holdfast.run_bundles (lane_id, priority, first_id, last_id, job_id, published_by)
    select facts.queue_id, coalesce((facts.settings ->> 'priority')::smallint, 0), lower(part), upper(part) - 1, facts.id, own_transaction
    from unnest(run_set) as part;
  elsif run_options is null and not facts.settings ?| '{priority,expiresAfterMs}' then
    with stored as (
      insert into holdfast.messages (id, size, is_run, type, body)
      values (nextval('holdfast.ids'), octet_length(bodies[1]), true, job_name, bodies[1]::json) returning id
    )
    insert into holdfast.runs as owed (id, published_by, lane_id, job_id)
    select stored.id, own_transaction, facts.queue_id, facts.id from stored
    returning array[owed.id] into ids;
  else
    ids := holdfast.accept_runs_with_options(facts.id, job_name, facts.queue_id, facts.settings, bodies, run_options);
  end if;
  if facts.has_sleepers then
    perform pg_notify('holdfast_queue_' || facts.queue_id, '');
  end if;
end $$;

create function holdfast.accept_runs(job_name text, bodies text[], run_options jsonb[] default null) returns setof bigint
language sql as $$
  select id from holdfast.accept_run_bodies(job_name, bodies, run_options) as accepted cross join lateral (
    select unnest(accepted.ids)
    union all
    select generate_series(lower(part), upper(part) - 1) from unnest(accepted.run_set) as part
  ) as each (id)
$$;

create function holdfast.accept_runs_with_options(
  job integer, job_name text, lane integer, settings jsonb, bodies text[], run_options jsonb[]
) returns bigint[]
language plpgsql as $$
declare
  total integer := cardinality(bodies);
  -- Not the transaction's begin: that may lie before what claims have looked through already.
  enqueued_at timestamptz := clock_timestamp();
  ids bigint[];
  is_repeated boolean[] := array_fill(false, array[total]);
  given record;
  -- Unique keys that come more than once in this batch, with the run of it that has them.
  taken jsonb := '{}';
  holder bigint;
  earlier bigint;
begin
  select array_agg(nextval('holdfast.ids')) into ids from generate_series(1, total);
  for given in
    select at, body, option, option ->> 'uniqueKey' as unique_key, count(*) over (partition by option ->> 'uniqueKey') > 1 as is_shared
    from unnest(bodies, run_options) with ordinality as run (body, option, at)
    where option ?| '{idempotencyKey,uniqueKey}'
    -- In one order for everybody, so that two batches with the same keys can't wait for each other.
    order by coalesce(option ->> 'uniqueKey', option ->> 'idempotencyKey'), at
  loop
    holder := (taken ->> given.unique_key)::bigint;
    if holder is not null then
      earlier := coalesce(holdfast.claim_run_keys(job, given.body, given.option - 'uniqueKey', holder), holder);
    else
      earlier := holdfast.claim_run_keys(job, given.body, given.option, ids[given.at]);
      if earlier is null and given.is_shared and given.unique_key is not null then
        taken := taken || jsonb_build_object(given.unique_key, ids[given.at]);
      end if;
    end if;
    if earlier is not null then
      ids[given.at] := earlier;
      is_repeated[given.at] := true;
    end if;
  end loop;

  insert into holdfast.messages (id, size, is_run, type, tenant, correlation_id, criticality, headers, metadata, body)
  select run.id, octet_length(body), true, job_name, option ->> 'tenant', option ->> 'correlationId',
         coalesce(holdfast.criticality_code(option ->> 'criticality'), 1), option -> 'headers',
         nullif(coalesce(option -> 'metadata', '{}')
           || case when option ? 'tags' then jsonb_build_object('tags', option -> 'tags') else '{}' end
           || case when option ? 'reason' then jsonb_build_object('reason', option -> 'reason') else '{}' end, '{}'),
         body::json
  from unnest(ids, bodies, run_options, is_repeated) as run (id, body, option, is_known)
  where not is_known;

  insert into holdfast.runs (id, lane_id, job_id, priority, criticality, due_at, expires_at, ttl_at, ttl_ms, ordering_key, concurrency_key,
                             target)
  select run.id, lane, job, coalesce((option ->> 'priority')::smallint, (settings ->> 'priority')::smallint, 0),
         coalesce(holdfast.criticality_code(option ->> 'criticality'), 1),
         case when option ?| '{runAt,delayMs,ttlMs,orderingKey,concurrencyKey,worker,requireTags}' then
           greatest(enqueued_at, (option ->> 'runAt')::timestamptz, enqueued_at + make_interval(secs => (option ->> 'delayMs')::double precision / 1000))
         end,
         coalesce((option ->> 'expiresAt')::timestamptz,
                  enqueued_at + make_interval(secs => (settings ->> 'expiresAfterMs')::double precision / 1000)),
         -- Shared queues have no TTL unless it is asked for; work aimed at one worker has one.
         greatest(enqueued_at, (option ->> 'runAt')::timestamptz, enqueued_at + make_interval(secs => (option ->> 'delayMs')::double precision / 1000))
           + make_interval(secs => coalesce(
               (option ->> 'ttlMs')::double precision,
               case when option ? 'worker' then coalesce((settings ->> 'ttlMs')::double precision, 300000) end
             ) / 1000),
         (option ->> 'ttlMs')::double precision, option ->> 'orderingKey', option ->> 'concurrencyKey',
         coalesce('worker:' || (option ->> 'worker'),
                  'tags:' || (select string_agg(tag, ',' order by tag) from jsonb_array_elements_text(option -> 'requireTags') as tag))
  from unnest(ids, run_options, is_repeated) as run (id, option, is_known)
  where not is_known;
  return ids;
end $$;

-- Unique keys that are held until their run has ended, for whoever clears them away.
create index idempotency_keys_held on holdfast.idempotency_keys (((result ->> 0)::bigint)) where expires_at = 'infinity';

-- The run that had this idempotency key (the same body) or unique key (any body) first; null when the key is new.
create function holdfast.claim_run_keys(job integer, body text, options jsonb, new_run bigint) returns bigint
language plpgsql as $$
declare
  key_scope text := 'unique:' || job;
  unique_key text := options ->> 'uniqueKey';
  new_hash text := case when options ? 'uniqueForMs' then 'window' else 'run' end;
  new_expiry timestamptz := case when options ? 'uniqueForMs'
    then now() + make_interval(secs => (options ->> 'uniqueForMs')::double precision / 1000) else 'infinity' end;
  earlier bigint[];
  held record;
begin
  if options ? 'idempotencyKey' then
    earlier := holdfast.claim_idempotency_key('job:' || job, options ->> 'idempotencyKey', '', body, array[new_run]);
    if earlier is not null then
      return earlier[1];
    end if;
  end if;
  if unique_key is null then
    return null;
  end if;
  -- With a window the key is taken for that long; without one until its run has ended.
  loop
    insert into holdfast.idempotency_keys (scope, key, body_hash, result, expires_at)
    values (key_scope, unique_key, new_hash, to_jsonb(array[new_run]), new_expiry) on conflict (scope, key) do nothing;
    if found then
      return null;
    end if;
    select body_hash, (result ->> 0)::bigint as run, expires_at into held
    from holdfast.idempotency_keys where scope = key_scope and key = unique_key for update;
    if not found then
      continue;
    end if;
    -- A statement of its own, whose snapshot shows the run that came with the key we have waited for.
    if held.expires_at > now() and (held.body_hash <> 'run' or exists (select from holdfast.runs where id = held.run)) then
      -- The idempotency key that we have just taken stands for that run from now on.
      update holdfast.idempotency_keys set result = to_jsonb(array[held.run])
      where scope = 'job:' || job and key = options ->> 'idempotencyKey';
      return held.run;
    end if;
    update holdfast.idempotency_keys set body_hash = new_hash, result = to_jsonb(array[new_run]), expires_at = new_expiry
    where scope = key_scope and key = unique_key;
    return null;
  end loop;
end $$;

create function holdfast.enqueue(job text, payload jsonb, options jsonb default null) returns text
language sql as $$
  select holdfast.format_id('run', id)
  from holdfast.accept_runs(job, array[coalesce(payload, 'null')::text], case when options is not null then array[options] end) as id
$$;

create function holdfast.enqueue_batch(job text, payloads jsonb[], options jsonb default null) returns setof text
language sql as $$
  select holdfast.format_id('run', id)
  from holdfast.accept_runs(
    job, payloads::text[], case when options is not null then array_fill(options, array[cardinality(payloads)]) end
  ) as id
$$;

-- What the SDK calls: bodies as lines of one text, see accept_lines. Numbers come back as one text, each by itself (`1,2,3`) or as a set (`{[1,4)}`).
create function holdfast.accept_run_lines(job_name text, lines text, run_options jsonb[] default null) returns text
language sql as $$
  select coalesce(array_to_string(ids, ','), run_set::text)
  from holdfast.accept_run_bodies(job_name, string_to_array(lines, E'\n'), run_options)
$$;
