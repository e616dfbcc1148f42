-- Records the end of a task; `error` null: it succeeded. It runs next at `next_at`, or `after_start_ms` after it was started.
create or replace function holdfast_internal.finish_task(
  me integer, my_term bigint, task_name text, duration_ms integer, task_summary jsonb, error text, next_at timestamptz,
  after_start_ms double precision
) returns void
language plpgsql as $$
begin
  perform holdfast_internal.assert_leader(me, my_term);
  update holdfast_internal.maintenance_tasks set
    running_since = null, last_duration_ms = duration_ms, last_error = error,
    summary = case when error is null then task_summary else summary end,
    failures = case when error is null then 0 else failures + 1 end,
    last_succeeded_at = case when error is null then clock_timestamp() else last_succeeded_at end,
    last_failed_at = case when error is null then last_failed_at else clock_timestamp() end,
    -- The task may have been requested again meanwhile.
    next_run_at = case
      when requested_at > last_started_at then next_run_at
      else greatest(coalesce(next_at, last_started_at + make_interval(secs => after_start_ms / 1000)), clock_timestamp())
    end
  where name = task_name and term = my_term;
end $$;
