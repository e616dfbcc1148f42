-- Marks due tasks as running and returns them. If a task kills the process, the next leader doesn't start it again at once.
create or replace function holdfast_internal.start_due_tasks(me integer, my_term bigint, busy text[], retry_ms double precision) returns setof text
language plpgsql as $$
begin
  perform holdfast_internal.assert_leader(me, my_term);
  return query
  update holdfast_internal.maintenance_tasks as task set
    running_since = clock_timestamp(), last_started_at = clock_timestamp(), term = my_term,
    node = (select leadership.node from holdfast_internal.leadership),
    next_run_at = clock_timestamp() + make_interval(secs => least(retry_ms, (task.schedule ->> 'everyMs')::double precision) / 1000)
  where task.next_run_at <= clock_timestamp() and task.name <> all (busy)
  returning task.name;
end $$;
