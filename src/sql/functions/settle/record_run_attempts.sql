-- Records the attempts of these records, also of runs that another worker holds by now.
create or replace function holdfast_internal.record_run_attempts(me integer, records jsonb) returns void
language plpgsql as $$
begin
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, duration_ms, outcome, error_code, error, detail)
  select r.id, r.message, now() - make_interval(secs => r."ageMs" / 1000), r.attempt, me, r.lane, r."durationMs", r.outcome,
         r."errorCode", r.error, r.detail
  from holdfast_internal.run_records(records) as r
  where r."isTried" and not holdfast_internal.is_of_another_run(r.id, r.message, r.lane)
  -- The worker was declared dead with this attempt running: now its outcome is known.
  on conflict (delivery_id, attempt, incarnation) do update set
    outcome = excluded.outcome, duration_ms = excluded.duration_ms, error_code = excluded.error_code, error = excluded.error, detail = excluded.detail
  where attempts.outcome = 6;
end $$;
