-- Records the attempts of runs that succeeded. Arrays may be shorter than run_ids, see settle_run_successes. `foreign_ids`: ids that belong to other
-- runs, which are not recorded.
create or replace function holdfast_internal.record_run_successes(
  me integer, run_ids bigint[], message_ids bigint[], lanes integer[], attempt_numbers integer[], ages_ms double precision[], durations_ms integer[],
  details jsonb[], foreign_ids bigint[]
) returns void
language plpgsql as $$
begin
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, duration_ms, outcome, detail)
  select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
         coalesce(lane, lanes[1]), coalesce(duration, durations_ms[1]), 1, detail
  from unnest(run_ids, message_ids, lanes, attempt_numbers, ages_ms, durations_ms, details)
    as done (id, message, lane, number, age, duration, detail)
  where id <> all (foreign_ids);
exception when unique_violation then
  -- The batch was stored before and its response was lost.
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, duration_ms, outcome, detail)
  select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
         coalesce(lane, lanes[1]), coalesce(duration, durations_ms[1]), 1, detail
  from unnest(run_ids, message_ids, lanes, attempt_numbers, ages_ms, durations_ms, details)
    as done (id, message, lane, number, age, duration, detail)
  where id <> all (foreign_ids)
  -- Or the attempt was recorded as a time-out and succeeded after all: the success is kept.
  on conflict (delivery_id, attempt, incarnation) do update set
    outcome = 1, duration_ms = excluded.duration_ms, detail = excluded.detail, error_code = null, error = null
  where attempts.outcome <> 1 and attempts.lane_id = excluded.lane_id;
end $$;
