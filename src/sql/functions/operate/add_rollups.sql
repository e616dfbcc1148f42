-- Adds a node's counts: [{lane, period, startsAtMs, attempts, successes, throttled, durations, answers}], one entry a row.
create or replace function holdfast_internal.add_rollups(me integer, flush_number bigint, counted jsonb) returns boolean
language plpgsql as $$
begin
  insert into holdfast_internal.rollup_flushes as last (incarnation, flush) values (me, flush_number)
  on conflict (incarnation) do update set flush = excluded.flush where last.flush < excluded.flush;
  if not found then
    return false;
  end if;
  -- Always in the same order: two nodes that add to the same hours (a lane has changed owners) must not deadlock.
  insert into holdfast_internal.rollups as known (lane_id, period, starts_at, attempts, successes, throttled, durations, answers)
  select lane, period, to_timestamp("startsAtMs" / 1000), attempts, successes, throttled, durations, answers
  from jsonb_to_recordset(counted) as given (
    lane integer, period smallint, "startsAtMs" double precision, attempts bigint, successes bigint, throttled bigint,
    durations integer[], answers jsonb
  )
  order by lane, period, "startsAtMs"
  on conflict (lane_id, period, starts_at) do update set
    attempts = known.attempts + excluded.attempts, successes = known.successes + excluded.successes,
    throttled = known.throttled + excluded.throttled, durations = holdfast_internal.add_counts(known.durations, excluded.durations),
    answers = holdfast_internal.add_answers(known.answers, excluded.answers);
  return true;
end $$;
