-- Adds up hours to days, repeatedly while late hours may still arrive: for the next `max_lanes` endpoints after the one where the last call stopped.
-- Returns how many endpoints it processed; fewer than `max_lanes` means that the round is complete and the next call starts again. Index:
-- rollups_pkey.
create or replace function holdfast_internal.roll_up_lanes(days_back integer, max_lanes integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  start integer := coalesce((select position from holdfast_internal.keeper_rounds where name = 'rollup_lanes'), 0);
  since timestamptz := date_trunc('day', now(), 'UTC') - make_interval(days => days_back);
  lanes integer[] := array(select id from holdfast_internal.endpoints where id > start order by id limit max_lanes);
begin
  insert into holdfast_internal.rollups as known (lane_id, period, starts_at, attempts, successes, throttled, durations, answers)
  select sums.lane_id, 3, sums.starts_at, sums.attempts, sums.successes, sums.throttled, sums.durations::integer[], sums.answers
  from unnest(lanes) as lane cross join lateral holdfast_internal.sum_rollups_of_lane(lane, 2::smallint, since, interval '1 day') as sums
  on conflict (lane_id, period, starts_at) do update set
    attempts = excluded.attempts, successes = excluded.successes, throttled = excluded.throttled, durations = excluded.durations,
    answers = excluded.answers;
  perform holdfast_internal.keep_position('rollup_lanes', case when cardinality(lanes) < max_lanes then 0 else lanes[max_lanes] end);
  return cardinality(lanes);
end $$;
