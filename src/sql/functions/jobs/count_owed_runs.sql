-- Rows are counted to 100,000, beyond that as they were counted within the last minute.
create or replace function holdfast_internal.count_owed_runs(lane integer) returns bigint
language sql stable as $$
  select holdfast_internal.owed_runs_to(lane, 100000)
$$;
