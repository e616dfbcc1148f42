-- The operations whose next step is due, and when the next one of the others is, in milliseconds from now (null: none is running).
create or replace function holdfast_internal.due_operations(max_rows integer, out ids bigint[], out next_ms double precision)
language sql stable as $$
  select array(
    select id from holdfast_internal.operations where state = 'running' and next_step_at <= clock_timestamp() order by next_step_at limit max_rows
  ), (
    select extract(epoch from min(next_step_at) - clock_timestamp())::double precision * 1000 from holdfast_internal.operations
    where state = 'running' and next_step_at > clock_timestamp()
  )
$$;
