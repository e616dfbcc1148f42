-- Like start_dispatched_v2, for nodes of an earlier version: returns the runs of the tokens that were no longer valid.
create or replace function holdfast_internal.start_dispatched(me integer, started_ids bigint[], tokens bigint[]) returns bigint[]
language sql as $$
  with given as materialized (
    select holdfast_internal.start_dispatched_v2(me, started_ids, tokens) as lost
  )
  select coalesce(array_agg(started.run_id), '{}') from given, unnest(started_ids, tokens) as started (run_id, token) where started.token = any (given.lost)
$$;
