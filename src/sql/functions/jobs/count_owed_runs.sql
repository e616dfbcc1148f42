-- How many runs of a queue have not ended. Rows are counted up to 100,000, see owed_runs_to.
create or replace function holdfast_internal.count_owed_runs(lane integer) returns bigint
language sql stable as $$
  select holdfast_internal.owed_runs_to(lane, 100000)
$$;
