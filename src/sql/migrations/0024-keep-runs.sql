-- What has to be done about runs now and then, on the keeper's rounds. Each is bounded, and skips what somebody is just claiming.

-- What nobody ran in time ends.
create function holdfast.expire_runs(max_rows integer, me integer) returns integer
language plpgsql as $$
declare
  chosen bigint[];
  key_lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
begin
  select array_agg(run.id) into chosen from (
    select id from holdfast.runs as run
    where run.expires_at <= now() and run.claim_id is null and holdfast.holder_of_run(run.id) is null
    order by run.expires_at limit max_rows for update skip locked
  ) as run;
  if chosen is null then
    return 0;
  end if;
  with gone as (
    delete from holdfast.runs where id = any (chosen) and due_at is not null returning *
  ), recorded as (
    insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
    select id, coalesce(message_id, id), now(), attempt + 1, me, lane_id, 10, 'expired', 'nobody ran it in time' from gone
    on conflict do nothing
  )
  select array_agg(lane_id) filter (where coalesce(ordering_key, concurrency_key) is not null),
         array_agg(ordering_key) filter (where coalesce(ordering_key, concurrency_key) is not null),
         array_agg(concurrency_key) filter (where coalesce(ordering_key, concurrency_key) is not null)
  into key_lanes, ordering_keys, concurrency_keys from gone;
  if key_lanes is not null then
    perform holdfast.free_keys(key_lanes, ordering_keys, concurrency_keys);
  end if;
  -- A fresh one belongs to the cursor: it is set aside with its claims shut out, and taken on the next round.
  perform holdfast.set_fresh_aside(chosen);
  return cardinality(chosen);
end $$;

-- Moves fresh runs that no claim lists into the due line.
create function holdfast.set_fresh_aside(chosen bigint[]) returns void
language plpgsql as $$
declare
  lane integer;
begin
  for lane in select distinct lane_id from holdfast.runs where id = any (chosen) and due_at is null order by 1 loop
    perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
    update holdfast.runs as run set due_at = clock_timestamp()
    where run.id = any (chosen) and run.lane_id = lane and run.due_at is null and holdfast.holder_of_run(run.id) is null;
  end loop;
end $$;

-- Work aimed at one worker (or with a TTL of its own) that nobody has started. The row lock decides against a claim in the same instant.
create function holdfast.expire_targets(max_rows integer, me integer) returns integer
language plpgsql as $$
declare
  chosen bigint[];
  shared bigint[];
begin
  select array_agg(run.id) filter (where run.policy <> 'share'), array_agg(run.id) filter (where run.policy = 'share')
  into chosen, shared from (
    select run.id, coalesce((select job.settings ->> 'onTtl' from holdfast.jobs as job where job.id = run.job_id), 'fail') as policy
    from holdfast.runs as run
    where run.ttl_at <= now() and run.claim_id is null and run.due_at is not null
      -- One that came back waits anew, for as long as it or its job says.
      and ((run.attempt + run.crashes = 0 and (run.due_at < run.ttl_at or run.due_at = 'infinity'))
        or run.due_at <= now() - make_interval(secs => coalesce(
          run.ttl_ms, (select (job.settings ->> 'ttlMs')::double precision from holdfast.jobs as job where job.id = run.job_id), 300000) / 1000))
    order by run.ttl_at limit max_rows for update of run skip locked
  ) as run;
  -- Re-targeted: anybody may take it now.
  update holdfast.runs set target = null, ttl_at = null, ttl_ms = null, due_at = clock_timestamp() where id = any (shared);
  if shared is not null then
    perform holdfast.ring_workers(lane_id) from (select distinct lane_id from holdfast.runs where id = any (shared)) as every;
  end if;
  if chosen is not null then
    perform holdfast.fail_runs(chosen, 'worker_queue_ttl_expired', 'worker_queue_ttl_expired', 'Worker queue TTL expired', me);
  end if;
  return coalesce(cardinality(chosen), 0) + coalesce(cardinality(shared), 0);
end $$;

-- Runs that a living worker has held for longer than their time-out and the threshold: it has lost sight of them.
create function holdfast.sweep_zombies(threshold_ms double precision, max_rows integer, me integer) returns integer
language plpgsql as $$
declare
  failed bigint[];
  requeued bigint[];
begin
  -- Claims that are older than any job's time-out allows: those of long runs stay as they are.
  perform holdfast.take_out_of_claims(array(
    select id from holdfast.run_claims
    where bundled <> '{}' and claimed_at < clock_timestamp() - make_interval(secs => (
      threshold_ms + (select min(coalesce((settings ->> 'timeoutMs')::double precision, 3600000)) from holdfast.jobs)) / 1000)
    order by id limit 20
  ));
  select array_agg(zombie.id) filter (where zombie.policy <> 'requeue'), array_agg(zombie.id) filter (where zombie.policy = 'requeue')
  into failed, requeued from (
    select run.id, case when run.crashes + 1 < coalesce((job.settings ->> 'maxCrashes')::integer, 3)
             then coalesce(job.settings ->> 'onZombie', 'fail') else 'fail' end as policy
    from holdfast.run_claims as claim cross join unnest(claim.run_ids) as listed (id)
    join holdfast.runs as run on run.id = listed.id and (run.due_at is null or run.claim_id = claim.id)
    join holdfast.jobs as job on job.id = run.job_id
    where claim.claimed_at < clock_timestamp() - make_interval(secs => threshold_ms / 1000)
      and claim.claimed_at < clock_timestamp() - make_interval(secs => (
        threshold_ms + coalesce((job.settings ->> 'timeoutMs')::double precision, 3600000)) / 1000)
    order by run.id limit max_rows for update of run skip locked
  ) as zombie;
  if failed is not null then
    -- Out of the claim first: whatever its worker still decides is refused.
    update holdfast.runs set claim_id = null, due_at = 'infinity' where id = any (failed);
    perform holdfast.fail_runs(failed, 'zombie', 'zombie_detected', 'Zombie detected', me);
  end if;
  if requeued is not null then
    update holdfast.runs set claim_id = null, due_at = clock_timestamp(), crashes = crashes + 1 where id = any (requeued);
    perform holdfast.cancel_returned(requeued);
    perform holdfast.free_slots_of(requeued);
    perform holdfast.ring_workers(lane_id) from (select distinct lane_id from holdfast.runs where id = any (requeued)) as every;
  end if;
  return coalesce(cardinality(failed), 0) + coalesce(cardinality(requeued), 0);
end $$;

-- A safety net: parked runs whose key is free, or whose job is active and who have none, come back. Looks at a bounded number of those that are
-- parked, and goes on from there the next time. Index: runs_parked.
create function holdfast.unpark_stranded(max_rows integer) returns integer
language plpgsql as $$
declare
  start bigint := coalesce((select position from holdfast.keeper_rounds where name = 'stranded'), 0);
  reached bigint;
  stranded bigint[];
  freed integer;
begin
  with parked as materialized (
    select id, lane_id, job_id, ordering_key, concurrency_key from holdfast.runs
    where due_at = 'infinity' and claim_id is null and id > start order by id limit max_rows
  )
  select case when count(*) = max_rows then max(run.id) else 0 end, array_agg(run.id) filter (where job.state = 'active'
    and not exists (
      select from holdfast.runs as older
      where older.ordering_key = run.ordering_key and older.lane_id = run.lane_id and older.id < run.id
    )
    and (run.concurrency_key is null or (
      select count(*) from holdfast.runs as other
      where other.concurrency_key = run.concurrency_key and other.lane_id = run.lane_id and other.claim_id is not null
    ) < coalesce((job.settings ->> 'concurrencyPerKey')::integer, 1)))
  into reached, stranded from parked as run left join holdfast.jobs as job on job.id = run.job_id;
  perform holdfast.keep_position('stranded', reached);
  with free as (
    select id from holdfast.runs where id = any (stranded) and due_at = 'infinity' and claim_id is null for update skip locked
  )
  update holdfast.runs as run set due_at = clock_timestamp() from free where run.id = free.id;
  get diagnostics freed = row_count;
  if freed > 0 then
    perform holdfast.ring_workers(id) from holdfast.queues;
  end if;
  return freed;
end $$;

-- Unique keys whose run has ended; those of runs that wait for months hide nothing behind them, because the next look goes on where this one
-- ends. Returns how many it cleared away. Indexes: idempotency_keys_held, runs_pkey.
create function holdfast.clear_unique_keys(max_rows integer) returns integer
language plpgsql as $$
declare
  start bigint := coalesce((select position from holdfast.keeper_rounds where name = 'unique_keys'), 0);
  reached bigint;
  ended bigint[];
  cleared integer;
begin
  with held as materialized (
    select (result ->> 0)::bigint as run from holdfast.idempotency_keys
    where expires_at = 'infinity' and (result ->> 0)::bigint > start order by (result ->> 0)::bigint limit max_rows
  )
  select case when count(*) = max_rows then max(held.run) else 0 end,
         array_agg(held.run) filter (where not exists (select from holdfast.runs where id = held.run))
  into reached, ended from held;
  perform holdfast.keep_position('unique_keys', reached);
  delete from holdfast.idempotency_keys where expires_at = 'infinity' and (result ->> 0)::bigint = any (ended);
  get diagnostics cleared = row_count;
  return cleared;
end $$;

create function holdfast.keep_position(round text, reached bigint) returns void
language sql as $$
  insert into holdfast.keeper_rounds as known (name, next_at, position) values (round, '-infinity', reached)
  on conflict (name) do update set position = excluded.position where known.position <> excluded.position
$$;

-- Jobs take no longer from queues that they have left and where nothing of theirs waits: others' runs, which their workers can't handle, would be
-- handed back by them. A transaction from before the move may still store runs there, and one that has read where the job was may be about to begin; for
-- those there is the hour. Returns how many jobs it concerns. No index finds the runs of a job: it looks through the queue's.
create function holdfast.forget_former_queues() returns integer
language plpgsql as $$
declare
  job record;
  kept integer[];
  changed integer := 0;
begin
  for job in
    select id, name, former_queue_ids from holdfast.jobs
    where former_queue_ids <> '{}' and moved_at < clock_timestamp() - interval '1 hour' and moved_by < pg_snapshot_xmin(pg_current_snapshot())
    order by id limit 100 for update skip locked
  loop
    kept := array(
      select lane from unnest(job.former_queue_ids) with ordinality as former (lane, place)
      where exists (select from holdfast.runs as run where run.lane_id = lane and run.job_id = job.id)
        or exists (select from holdfast.bundled_runs(array[lane], job.id, 9223372036854775807, 1))
      order by place
    );
    if kept <> job.former_queue_ids then
      update holdfast.jobs set former_queue_ids = kept where id = job.id;
      perform pg_notify('holdfast_jobs', job.name);
      changed := changed + 1;
    end if;
  end loop;
  return changed;
end $$;

-- Lets every due run of the queue be looked at again from the front: for what no claim should miss but might.
create function holdfast.rewind_floors(lane integer) returns void
language plpgsql as $$
declare
  state holdfast.queue_cursors;
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
  select * into state from holdfast.queue_cursors where lane_id = lane order by seq desc limit 1;
  if not found then
    return;
  end if;
  delete from holdfast.queue_cursors where lane_id = lane and seq = state.seq;
  state.floors := array_fill('-infinity'::timestamptz, array[4]);
  state.seq := nextval('holdfast.run_claims_seq');
  insert into holdfast.queue_cursors select state.*;
end $$;

-- Parked runs of a job come back, also in queues that it has left, a bounded number at a time in order of their numbers; those that a key still
-- blocks are parked again by the next claim. A line of a million in one step would meet the deadline of a statement, at every try. Index: runs_parked.
create function holdfast.unpark_job(job integer) returns integer
language plpgsql as $$
declare
  max_rows constant integer := 20000;
  start bigint;
  lanes integer[];
  last bigint;
  freed integer;
begin
  select queue_id || former_queue_ids, coalesce(unpark_from, 0) into lanes, start from holdfast.jobs where id = job;
  with next as materialized (
    select run.id from holdfast.runs as run
    where run.id > start and run.job_id = job and run.due_at = 'infinity' and run.lane_id = any (lanes) and run.claim_id is null
    order by run.id limit max_rows
  ), back as (
    update holdfast.runs as run set due_at = clock_timestamp() from next where run.id = next.id and run.due_at = 'infinity'
  )
  select count(*), max(id) into freed, last from next;
  last := case when freed = max_rows then last end;
  update holdfast.jobs set unpark_from = last where id = job and unpark_from is distinct from last;
  perform holdfast.ring_workers(lane) from unnest(lanes) as lane;
  return freed;
end $$;

-- The next step of every job that was activated and had more set aside than one step brings back. Index: jobs_unparking.
create function holdfast.unpark_jobs() returns integer
language plpgsql as $$
declare
  job record;
  freed integer := 0;
begin
  for job in select id from holdfast.jobs where unpark_from is not null order by id limit 5 for update skip locked loop
    freed := freed + holdfast.unpark_job(job.id);
  end loop;
  return freed;
end $$;
