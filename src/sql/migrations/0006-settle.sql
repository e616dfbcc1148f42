-- Settling: one call commits everything that happened since the last one.
-- Facts ("delivered", "an attempt was made") are recorded whoever reports them. Decisions ("retry", "dead", "the circuit failed")
-- need the shard's lease. Outcome codes: 1 success, 2 retryable, 3 permanent, 4 gone, 5 throttled, 10 expired, 11 cancelled, 12 dropped.

-- Arrays may be shorter than delivery_ids: what is missing is the number of the delivery itself (message_ids), nothing (route_ids,
-- status_codes), or what the first one is (the others).
create function holdfast.settle_successes(
  me integer, delivery_ids bigint[], message_ids bigint[], lanes integer[], route_ids integer[], attempt_numbers integer[],
  ages_ms double precision[], durations_ms integer[], status_codes integer[]
) returns bigint[]
language plpgsql as $$
declare
  removed integer;
  letters bigint[];
  gone bigint[];
begin
  -- Asked first, so that a batch pays for redrives only while there are some.
  if exists (select from holdfast.dead_letters where state = 'redriven' and settled_at is null) then
    letters := array(select dead_letter_id from holdfast.deliveries where id = any (delivery_ids) and dead_letter_id is not null);
  end if;
  delete from holdfast.deliveries where id = any (delivery_ids);
  get diagnostics removed = row_count;
  -- What was owed until now has no success yet: without ON CONFLICT, every row is spared its speculative insertion. A batch that was stored
  -- before, and whose answer got lost, takes the other way. No exception block chooses between them: its rows would carry the number of a
  -- subtransaction, of which a snapshot can't say whether it had ended, and a replay would take up what its preview never saw.
  if removed = cardinality(delivery_ids) then
    insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome, status_code)
    select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
           coalesce(lane, lanes[1]), route, coalesce(duration, durations_ms[1]), 1, status
    from unnest(delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes)
      as done (id, message, lane, route, number, age, duration, status);
  else
    insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome, status_code)
    select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
           coalesce(lane, lanes[1]), route, coalesce(duration, durations_ms[1]), 1, status
    from unnest(delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes)
      as done (id, message, lane, route, number, age, duration, status)
    on conflict do nothing;
  end if;
  -- A batch that comes again must not undo what its failures, and those since, have counted.
  if removed > 0 then
    -- A row that somebody holds in an open transaction is passed over: no delivery waits for a person.
    update holdfast.breakers set failures = 0
    where lane_id = any (array(
      select lane_id from holdfast.breakers
      where lane_id = any (array(select distinct unnest(lanes))) and state = 'closed' and failures > 0
      for update skip locked
    ));
  end if;
  if cardinality(letters) > 0 then
    perform holdfast.settle_redriven(letters);
  end if;
  if removed < cardinality(delivery_ids) then
    gone := holdfast.settle_late_successes(delivery_ids);
  end if;
  return gone;
end $$;

-- Letters whose redrive was delivered: `redriven` stays their last word, and the key that they blocked is free.
create function holdfast.settle_redriven(letter_ids bigint[]) returns void
language sql as $$
  update holdfast.dead_letters set settled_at = clock_timestamp() where id = any (letter_ids) and state = 'redriven' and settled_at is null
$$;

-- A success for a delivery that is no longer owed: somebody else finished it, or it was declared dead meanwhile. The fact resolves the letter that
-- is open for it, also when it is the letter's redrive, and cancels a redrive that nobody has started.
-- Indexes: dead_letters_delivery_id_key, dead_letters_redriven.
create function holdfast.settle_late_successes(delivery_ids bigint[]) returns bigint[]
language plpgsql as $$
declare
  resolved bigint[];
  lanes integer[];
begin
  with cancelled as (
    delete from holdfast.deliveries as redriven using holdfast.dead_letters as letter
    where letter.delivery_id = any (delivery_ids) and letter.state = 'redriven' and letter.settled_at is null
      and redriven.id = letter.redriven_delivery_id and redriven.attempt = 0
    returning redriven.lane_id
  ) select array_agg(distinct lane_id) into lanes from cancelled;
  with late as (
    update holdfast.dead_letters set state = 'resolved', settled_at = clock_timestamp(), settled_by = 'holdfast', action = 'late_success'
    where (delivery_id = any (delivery_ids) or redriven_delivery_id = any (delivery_ids)) and settled_at is null
    returning delivery_id, lane_id, blocks_key
  ) select array_agg(delivery_id), lanes || array_agg(distinct lane_id) filter (where blocks_key) into resolved, lanes from late;
  perform holdfast.tell_nodes('holdfast_lanes', lane || ' recount') from (select distinct unnest(lanes) as lane) as affected;
  return resolved;
end $$;

-- Everything but successes. `records`: one object per delivery {id, message, lane, epoch, route, attempt, outcome, status, ageMs,
-- durationMs, errorCode, error, detail, action: retry|dead|drop|expire|cancel|release, delayMs, reason, isProbe,
-- isCounted, isTried, blocksKey, expected}.
-- `runs`: one object per lane {lane, epoch, circuit, run, health, suspension}. Returns the deliveries whose decision was refused, and
-- the lanes whose circuit, hold or state isn't what it was, or can't be told: their owner must read them again.
create function holdfast.settle_failures(me integer, batch bigint, records jsonb, runs jsonb)
returns table (refused bigint[], changed integer[])
language plpgsql as $$
declare
  owned integer[];
  has_dead boolean;
  has_ended boolean;
begin
  perform holdfast.lock_incarnation_shared(me);
  -- Expanded once for what nearly every batch does; the rest of it is rare. The lease is checked after the lock, by its own statement.
  with given as materialized (
    select r.*, lease.epoch is not null as is_owned
    from holdfast.failure_records(records) as r
    left join holdfast.shard_leases as lease on lease.shard = r.lane & 255 and lease.incarnation = me and lease.epoch = r.epoch
  ), tried as (
    insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome,
                                   status_code, is_probe, error_code, error, detail)
    select r.id, r.message, now() - make_interval(secs => r."ageMs" / 1000), r.attempt, me, r.lane, r.route, r."durationMs", r.outcome,
           r.status, coalesce(r."isProbe", false), r."errorCode", r.error, r.detail
    from given as r
    where r."isTried"
    on conflict do nothing
  ), retried as (
    update holdfast.deliveries as owed set
      attempt = r.attempt, uncounted = owed.uncounted + case when r."isCounted" then 0 else 1 end,
      due_at = now() + make_interval(secs => r."delayMs" / 1000)
    from given as r
    where owed.id = r.id and r.action = 'retry' and owed.attempt = r.expected and r.is_owned
  )
  select coalesce(bool_or(r.action = 'dead'), false), coalesce(bool_or(r.action in ('drop', 'expire', 'cancel')), false),
         array_agg(distinct r.lane) filter (where r.is_owned), array_agg(r.id) filter (where not r.is_owned)
  into has_dead, has_ended, owned, refused
  from given as r;

  if has_dead then
    perform holdfast.bury_deliveries(records, coalesce(owned, '{}'));
  end if;
  if has_ended then
    perform holdfast.end_deliveries(me, records, coalesce(owned, '{}'));
  end if;
  if jsonb_array_length(runs) > 0 then
    changed := holdfast.settle_runs(me, batch, runs);
  end if;
  return next;
end $$;

-- What successes and failures mean for the circuits. Returns the lanes that must be read again.
create function holdfast.settle_runs(me integer, batch bigint, runs jsonb) returns integer[]
language plpgsql as $$
declare
  given record;
  changed integer[] := '{}';
begin
  -- A batch whose answer got lost is sent again: its records are guarded one by one, its runs by this number. The node's row
  -- is written last, because a heartbeat waits for whoever has written it.
  perform pg_advisory_xact_lock(hashtext('holdfast.settle'), me);
  if not exists (select from holdfast.nodes where incarnation = me and settled_batch < batch) then
    return array(select (r ->> 'lane')::integer from jsonb_array_elements(runs) as r);
  end if;
  for given in
    select (r ->> 'lane')::integer as lane, r, lease.epoch is not null as is_owned
    from jsonb_array_elements(runs) as r
    left join holdfast.shard_leases as lease
      on lease.shard = (r ->> 'lane')::integer & 255 and lease.incarnation = me and lease.epoch = (r ->> 'epoch')::bigint
    order by 1
  loop
    begin
      -- Somebody may hold this endpoint in an open transaction. These results began before whatever is decided there.
      perform set_config('lock_timeout', '100ms', true);
      if not given.is_owned or holdfast.record_run(
        given.lane, given.r -> 'circuit', given.r -> 'run', given.r -> 'health', given.r -> 'suspension', 'node:' || me
      ) then
        changed := changed || given.lane;
      end if;
    exception when lock_not_available then
      changed := changed || given.lane;
      raise log 'holdfast: the circuit of lane % is locked; its latest results are not counted', given.lane;
    end;
  end loop;
  perform set_config('lock_timeout', '0', true);
  update holdfast.nodes set settled_batch = batch where incarnation = me and settled_batch < batch;
  return changed;
end $$;

-- Successes and failures in one transaction and one round trip. Successes come first: one before the first failure of a run isn't part
-- of the run, and must have reset the circuit's count by then.
create function holdfast.settle(
  me integer, delivery_ids bigint[], message_ids bigint[], lanes integer[], route_ids integer[], attempt_numbers integer[],
  ages_ms double precision[], durations_ms integer[], status_codes integer[], batch bigint, records jsonb, runs jsonb
) returns table (refused bigint[], changed integer[])
language plpgsql as $$
begin
  perform holdfast.settle_successes(
    me, delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes
  );
  return query select * from holdfast.settle_failures(me, batch, records, runs);
end $$;

create function holdfast.failure_records(records jsonb)
returns table (
  id bigint, message bigint, lane integer, epoch bigint, route integer, attempt integer, expected integer, outcome smallint,
  status smallint, "ageMs" double precision, "durationMs" integer, "errorCode" text, error text, detail jsonb, action text,
  "delayMs" double precision, reason text, "isProbe" boolean, "isCounted" boolean, "isTried" boolean, "blocksKey" boolean
)
language sql immutable as $$
  select * from jsonb_to_recordset(records) as r (
    id bigint, message bigint, lane integer, epoch bigint, route integer, attempt integer, expected integer, outcome smallint,
    status smallint, "ageMs" double precision, "durationMs" integer, "errorCode" text, error text, detail jsonb, action text,
    "delayMs" double precision, reason text, "isProbe" boolean, "isCounted" boolean, "isTried" boolean, "blocksKey" boolean
  )
$$;

-- Deliveries that can't succeed by themselves become dead letters with their whole history; a failed redrive reopens its letter.
create function holdfast.bury_deliveries(records jsonb, owned integer[]) returns integer
language plpgsql as $$
declare
  buried integer;
begin
  with dead as (
    delete from holdfast.deliveries as owed using holdfast.failure_records(records) as r
    where owed.id = r.id and r.action = 'dead' and owed.attempt = r.expected and r.lane = any (owned)
    returning owed.id, owed.message_id, owed.lane_id, owed.route_id, owed.criticality, owed.priority, owed.variant, owed.replay_id, owed.ordering_key,
              owed.dead_letter_id, r.attempt, r.reason, r.outcome, r.status, r."errorCode" as error_code, r.error, r.detail,
              coalesce(r."blocksKey", false) as blocks_key
  ), history as (
    select dead.id, coalesce(jsonb_agg(jsonb_build_object(
      'deliveryId', past.delivery_id, 'attempt', past.attempt, 'at', past.started_at, 'durationMs', past.duration_ms, 'outcome', past.outcome,
      'status', past.status_code, 'isProbe', past.is_probe, 'errorCode', past.error_code, 'error', past.error
    ) order by past.attempt) filter (where past.attempt is not null), '[]') as attempts
    from dead left join holdfast.attempts as past on past.delivery_id = dead.id
    group by dead.id
  ), reopened as (
    update holdfast.dead_letters as letter set
      state = 'open', settled_at = null, settled_by = null, action = null, reason = dead.reason, outcome = dead.outcome, status_code = dead.status,
      error_code = dead.error_code, error = dead.error, attempt = letter.attempt + dead.attempt,
      attempts = letter.attempts || history.attempts, request = dead.detail -> 'request'
    from dead join history using (id)
    -- A letter that was resolved meanwhile, by a late success, stays so.
    where letter.id = dead.dead_letter_id and letter.state = 'redriven' and letter.settled_at is null
    returning letter.id
  )
  insert into holdfast.dead_letters (id, delivery_id, message_id, lane_id, route_id, reason, outcome, status_code, error_code, error,
                                     criticality, priority, variant, replay_id, attempt, attempts, request, ordering_key, blocks_key)
  select nextval('holdfast.ids'), dead.id, dead.message_id, dead.lane_id, dead.route_id, dead.reason, dead.outcome, dead.status,
         dead.error_code, dead.error, dead.criticality, dead.priority, dead.variant, dead.replay_id, dead.attempt, history.attempts, dead.detail -> 'request',
         dead.ordering_key, dead.blocks_key
  from dead join history using (id)
  where dead.dead_letter_id is null or not exists (select from holdfast.dead_letters as kept where kept.id = dead.dead_letter_id)
  on conflict (delivery_id) do nothing;
  get diagnostics buried = row_count;
  return buried;
end $$;

-- Endings other than death are recorded where attempts are; one that was never tried leaves a row of its own.
create function holdfast.end_deliveries(me integer, records jsonb, owned integer[]) returns void
language sql as $$
  with ended as (
    delete from holdfast.deliveries as owed using holdfast.failure_records(records) as r
    where owed.id = r.id and r.action in ('drop', 'expire', 'cancel') and owed.attempt = r.expected and r.lane = any (owned)
    returning r.*, owed.dead_letter_id
  ), reopened as (
    -- A redrive that couldn't go out leaves its letter as it found it.
    update holdfast.dead_letters set state = 'open', settled_by = null, action = null
    where id in (select dead_letter_id from ended) and state = 'redriven' and settled_at is null
  )
  insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
  select ended.id, ended.message, now(), ended.attempt + case when ended."isTried" then 1 else 0 end, me, ended.lane, ended.route,
         case ended.action when 'drop' then 12 when 'expire' then 10 else 11 end, ended.reason, ended.error
  from ended
  on conflict do nothing
$$;
