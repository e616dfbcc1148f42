-- Everything but successes. `action`: retry | dead | expire | cancel | release (back as it was, uncounted). Returns the runs whose
-- decision was refused, because the claim is no longer this worker's.
create or replace function holdfast_internal.settle_run_failures(me integer, records jsonb, ended_claims bigint[]) returns bigint[]
language plpgsql as $$
declare
  held bigint[];
  refused bigint[];
  key_lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
  lane integer;
  -- Of those that one statement concerns, in their order.
  ids bigint[];
  attempts_of integer[];
  delays_ms double precision[];
begin
  perform holdfast_internal.commit_durably();
  perform holdfast_internal.lock_incarnation_shared(me);
  perform holdfast_internal.take_out_of_claims(
    array(select id from holdfast_internal.run_claims where worker = me and id = any (array(select r.claim from holdfast_internal.run_records(records) as r))),
    holdfast_internal.id_ranges(array(select distinct r.id from holdfast_internal.run_records(records) as r order by r.id))
  );
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, duration_ms, outcome, error_code, error, detail)
  select r.id, r.message, now() - make_interval(secs => r."ageMs" / 1000), r.attempt, me, r.lane, r."durationMs", r.outcome,
         r."errorCode", r.error, r.detail
  from holdfast_internal.run_records(records) as r
  where r."isTried" and not holdfast_internal.is_of_another_run(r.id, r.message, r.lane)
  -- The worker was declared dead with this attempt running: now it is known how it ended.
  on conflict (delivery_id, attempt, incarnation) do update set
    outcome = excluded.outcome, duration_ms = excluded.duration_ms, error_code = excluded.error_code, error = excluded.error, detail = excluded.detail
  where attempts.outcome = 6;

  -- In the order of ids, so that two who settle at once can't wait for each other.
  select array_agg(locked.id),
         array_agg(locked.lane_id) filter (where locked.frees_key), array_agg(locked.ordering_key) filter (where locked.frees_key),
         array_agg(locked.concurrency_key) filter (where locked.frees_key)
  into held, key_lanes, ordering_keys, concurrency_keys
  from (
    select held.*, held.concurrency_key is not null or (held.ordering_key is not null and given.action in ('dead', 'expire', 'cancel')) as frees_key
    from (select * from holdfast_internal.run_records(records) as r order by r.id) as given
    cross join lateral (
      select run.id, run.lane_id, run.ordering_key, run.concurrency_key from holdfast_internal.runs as run
      where run.id = given.id and run.lane_id is not distinct from given.lane and coalesce(run.message_id, run.id) = given.message and run.attempt = given.expected
        and holdfast_internal.holds_run(given.claim, me, run)
      for update
    ) as held
  ) as locked;

  select array_agg(r.id order by r.id), array_agg(case r.action when 'retry' then r.attempt end order by r.id),
         array_agg(coalesce(r."delayMs", 0) order by r.id)
  into ids, attempts_of, delays_ms from holdfast_internal.run_records(records) as r where r.action in ('retry', 'release') and r.id = any (held);
  -- Looked up in arrays and not joined: see remove_delivered.
  update holdfast_internal.runs as run set
    attempt = coalesce(attempts_of[width_bucket(run.id, ids)], run.attempt), claim_id = null,
    due_at = clock_timestamp() + make_interval(secs => delays_ms[width_bucket(run.id, ids)] / 1000)
  where run.id = any (ids);

  perform holdfast_internal.bury_runs(records, held, me);
  ids := array(select r.id from holdfast_internal.run_records(records) as r where r.action in ('expire', 'cancel') and r.id = any (held));
  with ended as (
    delete from holdfast_internal.runs as run where run.id = any (ids) returning run.dead_letter_id
  ), reopened as (
    update holdfast_internal.dead_letters set state = 'open', settled_by = null, action = null
    where id = any (array(select dead_letter_id from ended)) and state = 'redriven' and settled_at is null
  )
  -- A cancelled attempt is its own record. An ending that wasn't tried comes after the last attempt, where it can't collide with one.
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
  select r.id, r.message, now(), r.attempt + 1, 0, r.lane, case r.action when 'expire' then 10 else 11 end, r.reason, r.error
  from holdfast_internal.run_records(records) as r where r.id = any (ids) and not r."isTried"
  on conflict do nothing;

  delete from holdfast_internal.run_claims where id = any (ended_claims) and worker = me and bundled = '{}';
  perform holdfast_internal.cancel_returned(held);
  if key_lanes is not null then
    perform holdfast_internal.free_keys(key_lanes, ordering_keys, concurrency_keys);
  end if;
  for lane in
    select distinct r.lane from holdfast_internal.run_records(records) as r where r.action in ('retry', 'release') and r.id = any (held)
  loop
    perform holdfast_internal.ring_workers(lane);
  end loop;
  select array_agg(r.id) into refused from holdfast_internal.run_records(records) as r where r.id <> all (coalesce(held, '{}'));
  return refused;
end $$;
