-- Progress and log lines of running runs: [{id, attempt, progress, logs}].
create or replace function holdfast_internal.record_progress(me integer, entries jsonb) returns void
language sql as $$
  insert into holdfast_internal.run_progress as known (run_id, attempt, worker, progress, logs)
  select id, attempt, me, progress, logs
  from jsonb_to_recordset(entries) as entry (id bigint, attempt integer, progress jsonb, logs jsonb)
  on conflict (run_id) do update set
    attempt = excluded.attempt, worker = excluded.worker, progress = excluded.progress, logs = excluded.logs, updated_at = clock_timestamp()
$$;
