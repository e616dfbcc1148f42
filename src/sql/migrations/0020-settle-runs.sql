-- Settling runs. A success is a fact and counts whoever reports it, unless the run has ended already. Everything else is a decision
-- and needs the claim. Outcome codes are those of attempts; a time-out is `retryable` with the error code timed_out.

-- The claim still holds the run: it lists it, and nobody has let it go or claimed it since.
create function holdfast.holds_run(claim bigint, me integer, run holdfast.runs) returns boolean
language sql stable as $$
  select (run.due_at is null or run.claim_id = claim) and exists (
    select from holdfast.run_claims as held where held.id = claim and held.worker = me and run.id = any (held.run_ids)
  )
$$;

-- The next run of each freed key may go. The queue's claims wait meanwhile: one that has seen the key taken has parked its run by now, one that comes
-- later sees it free. Indexes: runs_ordered, runs_concurrent.
create function holdfast.free_keys(lanes integer[], ordering_keys text[], concurrency_keys text[]) returns void
language plpgsql as $$
declare
  shut integer;
begin
  for shut in select distinct each from unnest(lanes) as each order by each loop
    perform pg_advisory_xact_lock(hashtext('holdfast.claims'), shut);
  end loop;
  update holdfast.runs as run set due_at = clock_timestamp() where run.id in (
    select (
      select next.id from holdfast.runs as next
      where next.ordering_key = freed.ordering_key and next.lane_id = freed.lane order by next.id limit 1
    )
    from (select distinct * from unnest(lanes, ordering_keys) as each (lane, ordering_key)) as freed
    union all
    select next.id
    from (select lane, concurrency_key, count(*) as slots from unnest(lanes, concurrency_keys) as each (lane, concurrency_key) group by 1, 2) as freed
    cross join lateral (
      select parked.id from holdfast.runs as parked
      where parked.concurrency_key = freed.concurrency_key and parked.lane_id = freed.lane and parked.claim_id is null and parked.due_at = 'infinity'
      order by parked.id limit freed.slots
    ) as next
  -- Also one that was left in the due line, so that somebody is rung for it.
  ) and run.claim_id is null and (run.due_at = 'infinity' or run.due_at <= clock_timestamp());
  if found then
    perform holdfast.ring_workers(each) from (select distinct unnest(lanes) as each) as rung;
  end if;
end $$;

-- These runs have gone back: others of their concurrency keys may go instead, should they themselves have to wait.
create function holdfast.free_slots_of(returned bigint[]) returns void
language plpgsql as $$
declare
  key_lanes integer[];
  concurrency_keys text[];
begin
  select array_agg(lane_id), array_agg(concurrency_key) into key_lanes, concurrency_keys
  from holdfast.runs where id = any (returned) and concurrency_key is not null;
  if key_lanes is not null then
    perform holdfast.free_keys(key_lanes, array[]::text[], concurrency_keys);
  end if;
end $$;

-- Arrays may be shorter than run_ids: what is missing is nothing (message_ids, details), or what the first one is (the others). `run_set`: the
-- same ids, for the claims that hold some of them without a row.
create function holdfast.settle_run_successes(
  me integer, run_ids bigint[], run_set int8multirange, claims bigint[], message_ids bigint[], lanes integer[], attempt_numbers integer[],
  ages_ms double precision[], durations_ms integer[], details jsonb[], ended_claims bigint[]
) returns void
language plpgsql as $$
declare
  removed integer;
  removed_rows integer;
  jobs_done integer[];
  letters bigint[];
  key_lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
begin
  -- Claims before rows: whoever makes rows of what a claim holds has the claim locked, and we see them then.
  with held as materialized (
    select claim.id, claim.bundled * run_set as settled from holdfast.run_claims as claim
    where claim.id = any (claims) and claim.bundled && run_set order by claim.id for update
  ), freed as (
    update holdfast.run_claims as claim set bundled = claim.bundled - run_set from held where claim.id = held.id
  )
  select coalesce(sum(upper(part) - lower(part)), 0) into removed from held cross join unnest(held.settled) as part;
  if removed > 0 and exists (select from holdfast.jobs where streak > 0 and (queue_id = any (lanes) or former_queue_ids && lanes)) then
    jobs_done := array(
      select distinct job.id from holdfast.messages as message join holdfast.jobs as job on job.name = message.type
      where message.id = any (run_ids) and job.streak > 0
    );
  end if;
  if removed < cardinality(run_ids) then
    -- In the order of ids, as whoever takes a dead worker's runs from it.
    with locked as materialized (
      select id from holdfast.runs where id = any (run_ids) order by id for update
    ), gone as (
      delete from holdfast.runs as run using locked where run.id = locked.id
      returning run.lane_id, run.job_id, run.ordering_key, run.concurrency_key, run.dead_letter_id
    )
    select count(*), jobs_done || array_agg(distinct job_id), array_agg(dead_letter_id) filter (where dead_letter_id is not null),
           array_agg(lane_id) filter (where coalesce(ordering_key, concurrency_key) is not null),
           array_agg(ordering_key) filter (where coalesce(ordering_key, concurrency_key) is not null),
           array_agg(concurrency_key) filter (where coalesce(ordering_key, concurrency_key) is not null)
    into removed_rows, jobs_done, letters, key_lanes, ordering_keys, concurrency_keys from gone;
    removed := removed + removed_rows;
    if removed < cardinality(run_ids) then
      removed := removed + holdfast.end_waiting(run_ids);
    end if;
  end if;
  begin
    insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, duration_ms, outcome, detail)
    select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
           coalesce(lane, lanes[1]), coalesce(duration, durations_ms[1]), 1, detail
    from unnest(run_ids, message_ids, lanes, attempt_numbers, ages_ms, durations_ms, details)
      as done (id, message, lane, number, age, duration, detail);
  exception when unique_violation then
    -- The batch was stored before and its answer got lost.
    insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, duration_ms, outcome, detail)
    select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
           coalesce(lane, lanes[1]), coalesce(duration, durations_ms[1]), 1, detail
    from unnest(run_ids, message_ids, lanes, attempt_numbers, ages_ms, durations_ms, details)
      as done (id, message, lane, number, age, duration, detail)
    -- Or it was a time-out and succeeded after all: the fact stays.
    on conflict (delivery_id, attempt, incarnation) do update set
      outcome = 1, duration_ms = excluded.duration_ms, detail = excluded.detail, error_code = null, error = null
    where attempts.outcome <> 1;
  end;
  delete from holdfast.run_claims where id = any (ended_claims) and worker = me and bundled = '{}';
  update holdfast.jobs set streak = 0, streak_started_at = null
  where id = any (array(
    select id from holdfast.jobs where id = any (jobs_done) and streak > 0 order by id for update skip locked
  ));
  if letters is not null then
    perform holdfast.settle_redriven(letters);
  end if;
  if removed < cardinality(run_ids) then
    perform holdfast.settle_late_run_successes(run_ids);
  end if;
  if key_lanes is not null then
    perform holdfast.free_keys(key_lanes, ordering_keys, concurrency_keys);
  end if;
end $$;

-- A success for a run that is no longer owed: it resolves the letter that is open for it, also one that its redrive has left, and cancels
-- a redrive that nobody has started.
create function holdfast.settle_late_run_successes(run_ids bigint[]) returns void
language plpgsql as $$
declare
  letters bigint[];
  key_lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
begin
  -- By the message, which a run shares with all of its redrives. Indexes: attempts_pkey, dead_letters_message.
  letters := array(
    select letter.id from holdfast.dead_letters as letter
    where letter.settled_at is null
      and letter.message_id = any (array(select done.message_id from holdfast.attempts as done where done.delivery_id = any (run_ids)))
    order by letter.id for update
  );
  with gone as (
    delete from holdfast.runs as redriven using holdfast.dead_letters as letter
    where letter.id = any (letters) and letter.state = 'redriven'
      and redriven.id = letter.redriven_delivery_id and redriven.attempt = 0 and redriven.due_at is not null and redriven.claim_id is null
    returning redriven.lane_id, redriven.ordering_key, redriven.concurrency_key
  )
  select array_agg(lane_id), array_agg(ordering_key), array_agg(concurrency_key) into key_lanes, ordering_keys, concurrency_keys
  from gone where coalesce(ordering_key, concurrency_key) is not null;
  update holdfast.dead_letters set state = 'resolved', settled_at = clock_timestamp(), settled_by = 'holdfast', action = 'late_success'
  where id = any (letters);
  if key_lanes is not null then
    perform holdfast.free_keys(key_lanes, ordering_keys, concurrency_keys);
  end if;
end $$;

create function holdfast.run_records(records jsonb)
returns table (
  id bigint, message bigint, claim bigint, lane integer, attempt integer, expected integer, outcome smallint, "ageMs" double precision,
  "durationMs" integer, "errorCode" text, error text, detail jsonb, action text, "delayMs" double precision, reason text, "isTried" boolean
)
language sql immutable as $$
  select * from jsonb_to_recordset(records) as r (
    id bigint, message bigint, claim bigint, lane integer, attempt integer, expected integer, outcome smallint, "ageMs" double precision,
    "durationMs" integer, "errorCode" text, error text, detail jsonb, action text, "delayMs" double precision, reason text, "isTried" boolean
  )
$$;

-- Everything but successes. `action`: retry | dead | expire | cancel | release (back as it was, uncounted). Returns the runs whose
-- decision was refused, because the claim is no longer this worker's.
create function holdfast.settle_run_failures(me integer, records jsonb, ended_claims bigint[]) returns bigint[]
language plpgsql as $$
declare
  held bigint[];
  refused bigint[];
  key_lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
  lane integer;
begin
  perform holdfast.lock_incarnation_shared(me);
  perform holdfast.take_out_of_claims(
    array(select id from holdfast.run_claims where worker = me and id = any (array(select r.claim from holdfast.run_records(records) as r))),
    holdfast.id_ranges(array(select distinct r.id from holdfast.run_records(records) as r order by r.id))
  );
  insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, duration_ms, outcome, error_code, error, detail)
  select r.id, r.message, now() - make_interval(secs => r."ageMs" / 1000), r.attempt, me, r.lane, r."durationMs", r.outcome,
         r."errorCode", r.error, r.detail
  from holdfast.run_records(records) as r where r."isTried"
  on conflict do nothing;

  -- In the order of ids, so that two who settle at once can't wait for each other.
  select array_agg(locked.id),
         array_agg(locked.lane_id) filter (where locked.frees_key), array_agg(locked.ordering_key) filter (where locked.frees_key),
         array_agg(locked.concurrency_key) filter (where locked.frees_key)
  into held, key_lanes, ordering_keys, concurrency_keys
  from (
    select run.id, run.lane_id, run.ordering_key, run.concurrency_key,
           run.concurrency_key is not null or (run.ordering_key is not null and r.action in ('dead', 'expire', 'cancel')) as frees_key
    from holdfast.run_records(records) as r join holdfast.runs as run on run.id = r.id
    where run.attempt = r.expected and holdfast.holds_run(r.claim, me, run) order by run.id for update of run
  ) as locked;

  update holdfast.runs as run set
    attempt = case r.action when 'retry' then r.attempt else run.attempt end, claim_id = null,
    due_at = clock_timestamp() + make_interval(secs => coalesce(r."delayMs", 0) / 1000)
  from holdfast.run_records(records) as r
  where run.id = r.id and r.action in ('retry', 'release') and r.id = any (held);

  perform holdfast.bury_runs(records, held, me);
  with ended as (
    delete from holdfast.runs as run using holdfast.run_records(records) as r
    where run.id = r.id and r.action in ('expire', 'cancel') and r.id = any (held)
    returning r.*, run.dead_letter_id
  ), reopened as (
    update holdfast.dead_letters set state = 'open', settled_by = null, action = null
    where id in (select dead_letter_id from ended) and state = 'redriven' and settled_at is null
  )
  insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
  select ended.id, ended.message, now(), ended.attempt + case when ended."isTried" then 1 else 0 end, me, ended.lane,
         case ended.action when 'expire' then 10 else 11 end, ended.reason, ended.error
  from ended
  on conflict do nothing;

  delete from holdfast.run_claims where id = any (ended_claims) and worker = me and bundled = '{}';
  perform holdfast.cancel_returned(held);
  if key_lanes is not null then
    perform holdfast.free_keys(key_lanes, ordering_keys, concurrency_keys);
  end if;
  for lane in
    select distinct r.lane from holdfast.run_records(records) as r where r.action in ('retry', 'release') and r.id = any (held)
  loop
    perform holdfast.ring_workers(lane);
  end loop;
  select array_agg(r.id) into refused from holdfast.run_records(records) as r where r.id <> all (coalesce(held, '{}'));
  return refused;
end $$;

-- Runs that can't succeed by themselves become dead letters with their whole history; a failed redrive reopens its letter. The caller has
-- made sure that they may. Counts for auto-disable.
create function holdfast.bury_runs(records jsonb, chosen bigint[], me integer) returns integer
language plpgsql as $$
declare
  failed record;
  buried integer := 0;
begin
  if not exists (select from holdfast.run_records(records) as r where r.action = 'dead' and r.id = any (chosen)) then
    return 0;
  end if;
  for failed in
    select run.job_id, count(*)::integer as failures from holdfast.run_records(records) as r join holdfast.runs as run on run.id = r.id
    where r.action = 'dead' and r.id = any (chosen) group by 1 order by 1
  loop
    perform holdfast.record_job_failures(failed.job_id, failed.failures, 'worker:' || me);
  end loop;
  with dead as (
    delete from holdfast.runs as run using holdfast.run_records(records) as r
    where run.id = r.id and r.action = 'dead' and r.id = any (chosen)
    returning run.id, coalesce(run.message_id, run.id) as message_id, run.lane_id, run.criticality, run.priority, run.ordering_key,
              run.concurrency_key, run.target, run.ttl_ms, run.dead_letter_id, r.attempt, r.reason, r.outcome, r."errorCode" as error_code, r.error
  ), history as (
    select dead.id, coalesce(jsonb_agg(jsonb_build_object(
      'deliveryId', past.delivery_id, 'attempt', past.attempt, 'at', past.started_at, 'durationMs', past.duration_ms, 'outcome', past.outcome,
      'status', null, 'isProbe', false, 'errorCode', past.error_code, 'error', past.error
    ) order by past.attempt) filter (where past.attempt is not null), '[]') as attempts
    from dead left join holdfast.attempts as past on past.delivery_id = dead.id
    group by dead.id
  ), reopened as (
    update holdfast.dead_letters as letter set
      state = 'open', settled_at = null, settled_by = null, action = null, reason = dead.reason, outcome = dead.outcome, error_code = dead.error_code,
      error = dead.error, attempt = letter.attempt + dead.attempt, attempts = letter.attempts || history.attempts
    from dead join history using (id)
    where letter.id = dead.dead_letter_id and letter.state = 'redriven' and letter.settled_at is null
    returning letter.id
  )
  insert into holdfast.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, error_code, error, criticality, priority, attempt,
                                     attempts, ordering_key, concurrency_key, target, ttl_ms)
  select nextval('holdfast.ids'), dead.id, dead.message_id, dead.lane_id, dead.reason, dead.outcome, dead.error_code, dead.error,
         dead.criticality, dead.priority, dead.attempt, history.attempts, dead.ordering_key, dead.concurrency_key, dead.target, dead.ttl_ms
  from dead join history using (id)
  where dead.dead_letter_id is null
  on conflict (delivery_id) do nothing;
  get diagnostics buried = row_count;
  return buried;
end $$;

-- Buries runs that nobody holds (or whose holder has just lost them), with one reason for all, and frees their keys.
create function holdfast.fail_runs(chosen bigint[], why text, code text, message text, actor integer) returns integer
language plpgsql as $$
declare
  records jsonb;
  key_lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
begin
  select jsonb_agg(jsonb_build_object(
           'id', run.id, 'message', coalesce(run.message_id, run.id), 'lane', run.lane_id, 'attempt', run.attempt, 'expected', run.attempt,
           'outcome', 2, 'action', 'dead', 'reason', why, 'errorCode', code, 'error', replace(message, '{crashes}', run.crashes::text)
         )),
         array_agg(run.lane_id) filter (where coalesce(run.ordering_key, run.concurrency_key) is not null),
         array_agg(run.ordering_key) filter (where coalesce(run.ordering_key, run.concurrency_key) is not null),
         array_agg(run.concurrency_key) filter (where coalesce(run.ordering_key, run.concurrency_key) is not null)
  into records, key_lanes, ordering_keys, concurrency_keys
  from holdfast.runs as run where run.id = any (chosen);
  if records is null then
    return 0;
  end if;
  perform holdfast.bury_runs(records, chosen, actor);
  delete from holdfast.run_cancellations where run_id = any (chosen);
  delete from holdfast.run_progress where run_id = any (chosen);
  if key_lanes is not null then
    perform holdfast.free_keys(key_lanes, ordering_keys, concurrency_keys);
  end if;
  return cardinality(chosen);
end $$;

-- Takes everything from a worker whose beat stood still where the observer saw it. Its runs go back with the crash counted; one that was
-- there too often becomes a dead letter instead of killing worker after worker. Returns how many went back.
create function holdfast.bury_worker(dead integer, seen_beat bigint, me integer) returns integer
language plpgsql as $$
declare
  lost_name text;
  lost bigint[];
  deadly bigint[];
  lane integer;
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), dead);
  delete from holdfast.workers where incarnation = dead and beat = seen_beat returning name into lost_name;
  if not found then
    return 0;
  end if;
  perform holdfast.take_out_of_claims(array(select id from holdfast.run_claims where worker = dead));
  select array_agg(run.id) into lost from (
    select run.id from holdfast.run_claims as claim cross join unnest(claim.run_ids) as listed (id)
    join holdfast.runs as run on run.id = listed.id and (run.due_at is null or run.claim_id = claim.id)
    where claim.worker = dead order by run.id for update of run
  ) as run;
  update holdfast.runs set crashes = crashes + 1, claim_id = null, due_at = clock_timestamp() where id = any (lost);
  delete from holdfast.run_claims where worker = dead;
  perform holdfast.cancel_returned(lost);
  perform holdfast.free_slots_of(lost);
  delete from holdfast.run_cancellations where worker = dead;
  delete from holdfast.run_progress where run_id = any (lost);
  select array_agg(run.id) into deadly from holdfast.runs as run join holdfast.jobs as job on job.id = run.job_id
  where run.id = any (lost) and run.crashes >= coalesce((job.settings ->> 'maxCrashes')::integer, 3);
  if deadly is not null then
    perform holdfast.fail_runs(deadly, 'crashed_its_worker', 'crashed_its_worker', 'crashed its worker {crashes} times', me);
  end if;
  for lane in select distinct lane_id from holdfast.runs where id = any (lost) loop
    perform holdfast.ring_workers(lane);
  end loop;
  perform holdfast.audit('holdfast', 'worker.lost', 'worker:' || dead,
                         jsonb_build_object('name', lost_name, 'runs', coalesce(cardinality(lost), 0), 'dead', coalesce(cardinality(deadly), 0)));
  return coalesce(cardinality(lost), 0);
end $$;

-- A clean stop: nothing is claimed any more, or it goes back uncounted.
create function holdfast.retire_worker(me integer) returns integer
language plpgsql as $$
declare
  left_over bigint[];
  lane integer;
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  perform holdfast.take_out_of_claims(array(select id from holdfast.run_claims where worker = me));
  select array_agg(run.id) into left_over from (
    select run.id from holdfast.run_claims as claim cross join unnest(claim.run_ids) as listed (id)
    join holdfast.runs as run on run.id = listed.id and (run.due_at is null or run.claim_id = claim.id)
    where claim.worker = me order by run.id for update of run
  ) as run;
  update holdfast.runs set claim_id = null, due_at = clock_timestamp() where id = any (left_over);
  delete from holdfast.run_claims where worker = me;
  perform holdfast.cancel_returned(left_over);
  perform holdfast.free_slots_of(left_over);
  delete from holdfast.run_cancellations where worker = me;
  delete from holdfast.run_progress where worker = me;
  delete from holdfast.workers where incarnation = me;
  for lane in select distinct lane_id from holdfast.runs where id = any (left_over) loop
    perform holdfast.ring_workers(lane);
  end loop;
  return coalesce(cardinality(left_over), 0);
end $$;

-- The answer to a claim didn't arrive: what it took goes back uncounted. One that is still on its way is waited for, and one that the network
-- held up finds its number refused. Returns how many went back.
create function holdfast.return_claim(me integer, lost_request bigint) returns integer
language plpgsql as $$
declare
  returned bigint[];
  lane integer;
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  update holdfast.workers set min_request = greatest(min_request, lost_request + 1) where incarnation = me;
  perform holdfast.take_out_of_claims(array(select id from holdfast.run_claims where worker = me and request = lost_request));
  select array_agg(run.id) into returned from (
    select run.id from holdfast.run_claims as claim cross join unnest(claim.run_ids) as listed (id)
    join holdfast.runs as run on run.id = listed.id and (run.due_at is null or run.claim_id = claim.id)
    where claim.worker = me and claim.request = lost_request order by run.id for update of run
  ) as run;
  update holdfast.runs set claim_id = null, due_at = clock_timestamp() where id = any (returned);
  delete from holdfast.run_claims where worker = me and request = lost_request;
  perform holdfast.cancel_returned(returned);
  perform holdfast.free_slots_of(returned);
  for lane in select distinct lane_id from holdfast.runs where id = any (returned) loop
    perform holdfast.ring_workers(lane);
  end loop;
  return coalesce(cardinality(returned), 0);
end $$;

-- Who holds this run; null: nobody. One that has a row is in no claim's set, so that those aren't looked through for it.
create function holdfast.holder_of_run(run_id bigint) returns integer
language sql stable as $$
  select case when exists (select from holdfast.runs where id = run_id) then (
    select claim.worker from holdfast.runs as run
    join holdfast.run_claims as claim on claim.lane_id = run.lane_id and run.id = any (claim.run_ids)
    where run.id = run_id and (run.due_at is null or run.claim_id = claim.id)
    order by claim.id desc limit 1
  ) else (select claim.worker from holdfast.run_claims as claim where claim.bundled @> run_id limit 1) end
$$;

-- A waiting run ends at once; a running one when its handler has heard of it. Returns 'cancelled', 'requested', or null: it isn't owed.
create function holdfast.cancel_run(run_id bigint, why text default null, actor text default current_user) returns text
language plpgsql as $$
declare
  max_tries constant integer := 200;
  tries integer := 0;
  lane integer;
  run holdfast.runs;
  holder integer;
begin
  -- The queue before the row, for claims and freed keys set rows aside under the queue's lock. But whoever settles has the row and may come for the
  -- queue: while he has it we let go of both and try again, a second long; then it is left to the server to find out who waits for whom.
  loop
    select lane_id into lane from holdfast.runs where id = run_id;
    if not found then
      lane := holdfast.take_out(run_id);
    end if;
    if lane is null then
      return null;
    end if;
    tries := tries + 1;
    begin
      -- No claim may take it while we look.
      perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
      if tries < max_tries then
        select * into run from holdfast.runs where id = run_id for update nowait;
      else
        select * into run from holdfast.runs where id = run_id for update;
      end if;
      exit;
    exception when lock_not_available then
      perform pg_sleep(0.005);
    end;
  end loop;
  if run.id is null then
    return null;
  end if;
  holder := holdfast.holder_of_run(run_id);
  perform holdfast.audit(actor, 'run.cancelled', holdfast.format_id('run', run_id), jsonb_build_object('reason', why, 'worker', holder));
  if holder is not null then
    insert into holdfast.run_cancellations (run_id, worker, reason) values (cancel_run.run_id, holder, why)
    on conflict on constraint run_cancellations_pkey do update set worker = holder, reason = why;
    perform pg_notify('holdfast_worker_' || holder, '');
    return 'requested';
  end if;
  delete from holdfast.runs where id = run_id;
  insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
  values (run_id, coalesce(run.message_id, run_id), now(), run.attempt + 1, 0, run.lane_id, 11, 'cancelled', why) on conflict do nothing;
  -- A redrive that was called off leaves its letter as it found it.
  update holdfast.dead_letters set state = 'open', settled_by = null, action = null
  where id = run.dead_letter_id and state = 'redriven' and settled_at is null;
  if coalesce(run.ordering_key, run.concurrency_key) is not null then
    perform holdfast.free_keys(array[run.lane_id], array[run.ordering_key], array[run.concurrency_key]);
  end if;
  return 'cancelled';
end $$;

-- Runs have gone back: those that somebody wanted cancelled meanwhile end here instead of being run again.
create function holdfast.cancel_returned(returned bigint[]) returns void
language plpgsql as $$
declare
  asked record;
begin
  for asked in delete from holdfast.run_cancellations where run_id = any (returned) returning run_id, reason loop
    perform holdfast.cancel_run(asked.run_id, asked.reason, 'holdfast');
  end loop;
end $$;

-- Makes a waiting run due now.
create function holdfast.hasten_run(run_id bigint, actor text default current_user) returns boolean
language plpgsql as $$
declare
  lane integer;
begin
  update holdfast.runs set due_at = clock_timestamp() where id = run_id and due_at > now() and claim_id is null returning lane_id into lane;
  if not found then
    return false;
  end if;
  perform holdfast.audit(actor, 'run.hastened', holdfast.format_id('run', run_id));
  perform holdfast.ring_workers(lane);
  return true;
end $$;

-- The part of redrive_letters that concerns queues: these letters, which the caller has locked open, are owed again in the order in which they
-- were owed first, under the same keys and aimed at the same workers; a TTL begins anew.
create function holdfast.redrive_runs(open_ids bigint[], actor text, is_resend boolean)
returns table (letter_id bigint, delivery_id bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  lane integer;
begin
  return query
  with numbered as materialized (
    select ordered.*, nextval('holdfast.ids') as new_id from (
      select letter.*, job.id as job_id, job.queue_id, clock_timestamp() as owed_at, coalesce(letter.ttl_ms, case
               when starts_with(letter.target, 'worker:') then coalesce((job.settings ->> 'ttlMs')::double precision, 300000)
             end) as new_ttl_ms
      from holdfast.dead_letters as letter
      join holdfast.queues as queue on queue.id = letter.lane_id
      cross join lateral (
        select type from holdfast.messages where id = letter.message_id
        union all select type from holdfast.messages_kept where id = letter.message_id limit 1
      ) as message
      join holdfast.jobs as job on job.name = message.type
      where letter.id = any (open_ids) order by letter.delivery_id
    ) as ordered
  ), owed as (
    insert into holdfast.runs (id, message_id, lane_id, job_id, priority, criticality, due_at, ttl_at, ttl_ms, dead_letter_id, ordering_key,
                               concurrency_key, target)
    select new_id, message_id, queue_id, job_id, priority, criticality, owed_at, owed_at + make_interval(secs => new_ttl_ms / 1000), ttl_ms, id,
           ordering_key, concurrency_key, target
    from numbered
  )
  update holdfast.dead_letters as letter set
    state = 'redriven', redrives = letter.redrives + 1, redriven_delivery_id = new_id, settled_by = actor,
    action = case when is_resend then 'resend' else 'redrive' end,
    resends = letter.resends + case when is_resend then 1 else 0 end,
    resent_at = case when is_resend then clock_timestamp() else letter.resent_at end
  from numbered where letter.id = numbered.id
  returning letter.id, letter.redriven_delivery_id;
  for lane in
    select distinct run.lane_id from holdfast.dead_letters as letter join holdfast.runs as run on run.id = letter.redriven_delivery_id
    where letter.id = any (open_ids)
  loop
    perform holdfast.ring_workers(lane);
  end loop;
end $$;

-- Progress and log lines of running runs: [{id, attempt, progress, logs}].
create function holdfast.record_progress(me integer, entries jsonb) returns void
language sql as $$
  insert into holdfast.run_progress as known (run_id, attempt, worker, progress, logs)
  select id, attempt, me, progress, logs
  from jsonb_to_recordset(entries) as entry (id bigint, attempt integer, progress jsonb, logs jsonb)
  on conflict (run_id) do update set
    attempt = excluded.attempt, worker = excluded.worker, progress = excluded.progress, logs = excluded.logs, updated_at = clock_timestamp()
$$;
