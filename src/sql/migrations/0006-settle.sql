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
  gone bigint[];
begin
  delete from holdfast.deliveries where id = any (delivery_ids);
  get diagnostics removed = row_count;
  -- Without ON CONFLICT, to spare every row its speculative insertion; a batch that was stored before, and whose answer got lost,
  -- takes the other way.
  begin
    insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome, status_code)
    select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
           coalesce(lane, lanes[1]), route, coalesce(duration, durations_ms[1]), 1, status
    from unnest(delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes)
      as done (id, message, lane, route, number, age, duration, status);
  exception when unique_violation then
    insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome, status_code)
    select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
           coalesce(lane, lanes[1]), route, coalesce(duration, durations_ms[1]), 1, status
    from unnest(delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes)
      as done (id, message, lane, route, number, age, duration, status)
    on conflict do nothing;
  end;
  -- A row that somebody holds in an open transaction is passed over: no delivery waits for a person.
  update holdfast.breakers set failures = 0
  where lane_id = any (array(
    select lane_id from holdfast.breakers
    where lane_id = any (array(select distinct unnest(lanes))) and state = 'closed' and failures > 0
    for update skip locked
  ));
  if removed < cardinality(delivery_ids) then
    gone := holdfast.settle_late_successes(delivery_ids);
  end if;
  return gone;
end $$;

-- A success for a delivery that is no longer owed: somebody else finished it, or it was declared dead meanwhile. The fact resolves
-- an open letter and cancels a redrive that nobody has started.
create function holdfast.settle_late_successes(delivery_ids bigint[]) returns bigint[]
language plpgsql as $$
declare
  resolved bigint[];
begin
  delete from holdfast.deliveries as redriven using holdfast.dead_letters as letter
  where letter.delivery_id = any (delivery_ids) and letter.state = 'redriven'
    and redriven.id = letter.redriven_delivery_id and redriven.attempt = 0;
  with late as (
    update holdfast.dead_letters set state = 'resolved', settled_at = clock_timestamp(), settled_by = 'holdfast', action = 'late_success'
    where delivery_id = any (delivery_ids) and state in ('open', 'redriven')
    returning delivery_id
  ) select array_agg(delivery_id) into resolved from late;
  return resolved;
end $$;

-- Everything but successes. `records`: one object per delivery {id, message, lane, epoch, route, attempt, outcome, status, ageMs,
-- durationMs, errorCode, error, detail, action: retry|dead|drop|expire|cancel|release, delayMs, reason, isProbe,
-- isCounted, isTried, blocksKey, expected}.
-- `runs`: one object per lane {lane, epoch, circuit, run, health, suspension}. Returns the deliveries whose decision was refused.
create function holdfast.settle_failures(me integer, batch bigint, records jsonb, runs jsonb)
returns bigint[]
language plpgsql as $$
declare
  owned integer[];
  given record;
  is_first_run boolean;
  refused bigint[];
begin
  perform holdfast.lock_incarnation_shared(me);
  -- A batch whose answer got lost is sent again: its records are guarded one by one, its runs by this number. The node's row
  -- is written last, because a heartbeat waits for whoever has written it.
  perform pg_advisory_xact_lock(hashtext('holdfast.settle'), me);
  is_first_run := exists (select from holdfast.nodes where incarnation = me and settled_batch < batch);
  select holdfast.owned_lanes(me, array_agg(lane), array_agg(epoch)) into owned
  from (
    select distinct lane, epoch from (
      select (r ->> 'lane')::integer as lane, (r ->> 'epoch')::bigint as epoch from jsonb_array_elements(records) as r
      union all
      select (r ->> 'lane')::integer, (r ->> 'epoch')::bigint from jsonb_array_elements(runs) as r
    ) as every
  ) as asked;

  insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome,
                                 status_code, is_probe, error_code, error, detail)
  select r.id, r.message, now() - make_interval(secs => r."ageMs" / 1000), r.attempt, me, r.lane, r.route, r."durationMs", r.outcome,
         r.status, coalesce(r."isProbe", false), r."errorCode", r.error, r.detail
  from holdfast.failure_records(records) as r
  where r."isTried"
  on conflict do nothing;

  update holdfast.deliveries as owed set
    attempt = r.attempt, uncounted = owed.uncounted + case when r."isCounted" then 0 else 1 end,
    due_at = now() + make_interval(secs => r."delayMs" / 1000)
  from holdfast.failure_records(records) as r
  where owed.id = r.id and r.action = 'retry' and owed.attempt = r.expected and r.lane = any (owned);

  perform holdfast.bury_deliveries(records, owned);

  -- Other endings are recorded where attempts are; one that was never tried leaves a row of its own.
  with ended as (
    delete from holdfast.deliveries as owed using holdfast.failure_records(records) as r
    where owed.id = r.id and r.action in ('drop', 'expire', 'cancel') and owed.attempt = r.expected and r.lane = any (owned)
    returning r.*
  )
  insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
  select ended.id, ended.message, now(), ended.attempt + case when ended."isTried" then 1 else 0 end, me, ended.lane, ended.route,
         case ended.action when 'drop' then 12 when 'expire' then 10 else 11 end, ended.reason, ended.error
  from ended
  on conflict do nothing;

  for given in
    select (r ->> 'lane')::integer as lane, r from jsonb_array_elements(runs) as r
    where is_first_run and (r ->> 'lane')::integer = any (owned) order by 1
  loop
    begin
      -- Somebody may hold this endpoint in an open transaction. These results began before whatever is decided there.
      perform set_config('lock_timeout', '100ms', true);
      perform holdfast.record_run(
        given.lane, given.r -> 'circuit', given.r -> 'run', given.r -> 'health', given.r -> 'suspension', 'node:' || me
      );
    exception when lock_not_available then
      raise log 'holdfast: the circuit of lane % is locked; its latest results are not counted', given.lane;
    end;
  end loop;
  perform set_config('lock_timeout', '0', true);
  if is_first_run then
    update holdfast.nodes set settled_batch = batch where incarnation = me and settled_batch < batch;
  end if;

  select array_agg(r.id) into refused from holdfast.failure_records(records) as r where not r.lane = any (owned);
  return refused;
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
    returning owed.id, owed.message_id, owed.lane_id, owed.route_id, owed.criticality, owed.priority, owed.variant, owed.ordering_key,
              owed.dead_letter_id, r.attempt, r.reason, r.outcome, r.status, r."errorCode" as error_code, r.error, r.detail,
              coalesce(r."blocksKey", false) as blocks_key
  ), history as (
    select dead.id, coalesce(jsonb_agg(jsonb_build_object(
      'attempt', past.attempt, 'at', past.started_at, 'durationMs', past.duration_ms, 'outcome', past.outcome,
      'status', past.status_code, 'isProbe', past.is_probe, 'errorCode', past.error_code, 'error', past.error
    ) order by past.attempt) filter (where past.attempt is not null), '[]') as attempts
    from dead left join holdfast.attempts as past on past.delivery_id = dead.id
    group by dead.id
  ), reopened as (
    update holdfast.dead_letters as letter set
      state = 'open', settled_at = null, settled_by = null, reason = dead.reason, outcome = dead.outcome, status_code = dead.status,
      error_code = dead.error_code, error = dead.error, attempt = letter.attempt + dead.attempt,
      attempts = letter.attempts || history.attempts, request = dead.detail -> 'request'
    from dead join history using (id)
    where letter.id = dead.dead_letter_id
    returning letter.id
  )
  insert into holdfast.dead_letters (id, delivery_id, message_id, lane_id, route_id, reason, outcome, status_code, error_code, error,
                                     criticality, priority, variant, attempt, attempts, request, ordering_key, blocks_key)
  select nextval('holdfast.ids'), dead.id, dead.message_id, dead.lane_id, dead.route_id, dead.reason, dead.outcome, dead.status,
         dead.error_code, dead.error, dead.criticality, dead.priority, dead.variant, dead.attempt, history.attempts, dead.detail -> 'request',
         dead.ordering_key, dead.blocks_key
  from dead join history using (id)
  where dead.dead_letter_id is null
  on conflict (delivery_id) do nothing;
  get diagnostics buried = row_count;
  return buried;
end $$;
