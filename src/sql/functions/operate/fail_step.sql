-- A failed step is retried after growing delays; the tenth consecutive failure ends the operation, and a person may resume it.
create or replace function holdfast_internal.fail_step(operation_id bigint, what text) returns void
language sql as $$
  update holdfast_internal.operations set
    failures = failures + 1, error = left(what, 2000),
    next_step_at = clock_timestamp() + make_interval(secs => least(60, power(2, failures))),
    state = case when failures + 1 >= 10 then 'failed' else state end,
    finished_at = case when failures + 1 >= 10 then clock_timestamp() end
  where id = operation_id and state = 'running'
$$;
