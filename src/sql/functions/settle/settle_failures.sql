-- Records all results except successes.
-- `records`: one object per delivery {id, message, lane, epoch, route, attempt, outcome, status, ageMs, durationMs, errorCode, error, detail, action:
-- retry|dead|drop|expire|cancel|skip, delayMs, reason, isProbe, isCounted, isTried, blocksKey, expected}.
-- `tallies`: one object per lane {lane, epoch, circuit, tally, health, suspension}.
-- Returns the deliveries whose decision was refused, and the lanes whose circuit, hold or state has changed, or may have: their owner must read them
-- again.
create or replace function holdfast_internal.settle_failures(me integer, batch bigint, records jsonb, tallies jsonb)
returns table (refused bigint[], changed integer[])
language plpgsql as $$
declare
  owned integer[];
  has_dead boolean;
  has_ended boolean;
  -- Deliveries to be retried, in the order of their ids.
  ids bigint[];
  lanes_of integer[];
  messages_of bigint[];
  expected_of integer[];
  attempts_of integer[];
  uncounted_of integer[];
  delays_ms double precision[];
begin
  perform holdfast_internal.commit_durably();
  perform holdfast_internal.lock_incarnation_shared(me);
  -- The records are expanded once for what nearly every batch needs; dead letters and other endings are rare. The lease is checked after locking, by
  -- a statement of its own.
  with given as materialized (
    select r.*, lease.epoch is not null as is_owned
    from holdfast_internal.failure_records(records) as r
    left join holdfast_internal.shard_leases as lease on lease.shard = r.lane & 255 and lease.incarnation = me and lease.epoch = r.epoch
  ), tried as (
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome,
                                   status_code, is_probe, error_code, error, detail)
    select r.id, r.message, now() - make_interval(secs => r."ageMs" / 1000), r.attempt, me, r.lane, r.route, r."durationMs", r.outcome,
           r.status, coalesce(r."isProbe", false), r."errorCode", r.error, r.detail
    from given as r
    where r."isTried" and not holdfast_internal.is_of_another(r.id, r.message, r.lane)
    -- This node was declared dead with this attempt in flight: now its outcome is known.
    on conflict (delivery_id, attempt, incarnation) do update set
      outcome = excluded.outcome, duration_ms = excluded.duration_ms, status_code = excluded.status_code, is_probe = excluded.is_probe,
      error_code = excluded.error_code, error = excluded.error, detail = excluded.detail
    where attempts.outcome = 6
  )
  select coalesce(bool_or(r.action = 'dead'), false), coalesce(bool_or(r.action in ('drop', 'expire', 'cancel', 'skip')), false),
         array_agg(distinct r.lane) filter (where r.is_owned), array_agg(r.id) filter (where not r.is_owned),
         array_agg(r.id order by r.id) filter (where r.action = 'retry' and r.is_owned),
         array_agg(r.lane order by r.id) filter (where r.action = 'retry' and r.is_owned),
         array_agg(r.message order by r.id) filter (where r.action = 'retry' and r.is_owned),
         array_agg(r.expected order by r.id) filter (where r.action = 'retry' and r.is_owned),
         array_agg(r.attempt order by r.id) filter (where r.action = 'retry' and r.is_owned),
         array_agg(case when r."isCounted" then 0 else 1 end order by r.id) filter (where r.action = 'retry' and r.is_owned),
         array_agg(r."delayMs" order by r.id) filter (where r.action = 'retry' and r.is_owned)
  into has_dead, has_ended, owned, refused, ids, lanes_of, messages_of, expected_of, attempts_of, uncounted_of, delays_ms
  from given as r;
  -- Looked up in arrays and not joined: see remove_delivered.
  update holdfast_internal.deliveries as owed set
    attempt = attempts_of[width_bucket(owed.id, ids)], uncounted = owed.uncounted + uncounted_of[width_bucket(owed.id, ids)],
    due_at = now() + make_interval(secs => delays_ms[width_bucket(owed.id, ids)] / 1000)
  where owed.id = any (ids) and owed.lane_id is not distinct from lanes_of[width_bucket(owed.id, ids)] and owed.message_id = messages_of[width_bucket(owed.id, ids)]
    and owed.attempt = expected_of[width_bucket(owed.id, ids)];

  if has_dead then
    perform holdfast_internal.bury_deliveries(records, coalesce(owned, '{}'));
  end if;
  if has_ended then
    perform holdfast_internal.end_deliveries(me, records, coalesce(owned, '{}'));
  end if;
  if jsonb_array_length(tallies) > 0 then
    changed := holdfast_internal.settle_tallies(me, batch, tallies);
  end if;
  return next;
end $$;
