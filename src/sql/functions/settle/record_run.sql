-- Like record_tally, for nodes of the previous version.
create or replace function holdfast_internal.record_run(lane integer, circuit jsonb, run jsonb, health jsonb, suspension jsonb, actor text) returns boolean
language sql as $$
  select holdfast_internal.record_tally(lane, circuit, run, health, suspension, actor)
$$;
