-- Days are made from hours, again and again while late hours may still come in.
create or replace function holdfast_internal.roll_up_days(days_back integer) returns integer
language plpgsql as $$
declare
  written integer;
begin
  insert into holdfast_internal.rollups as known (lane_id, period, starts_at, attempts, successes, throttled, durations, answers)
  select lane_id, 3, starts_at, attempts, successes, throttled, durations::integer[], answers
  from holdfast_internal.sum_rollups(null, 2::smallint, date_trunc('day', now(), 'UTC') - make_interval(days => days_back), interval '1 day')
  on conflict (lane_id, period, starts_at) do update set
    attempts = excluded.attempts, successes = excluded.successes, throttled = excluded.throttled, durations = excluded.durations,
    answers = excluded.answers;
  get diagnostics written = row_count;
  return written;
end $$;
