-- The next rows that an operation affects, at most `max_rows`, found among the next `max_looked` candidates: `query` is the result of operation_targets.
-- It is written for the order of one index, and the settings force the planner to use it; the rows are changed elsewhere, where small
-- sets may be sorted. `reached` is where the next call continues, null if there is no more.
create or replace function holdfast_internal.next_targets(
  query text, as_of pg_snapshot, surely_seen bigint, after bigint, max_rows integer, max_looked integer, out reached bigint, out ids bigint[]
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
begin
  execute format($statement$
    with target as materialized (%s), meant as materialized (select * from target where is_meant order by position limit $7)
    select case when count(*) >= $7 then max(meant.position) else (select target.reached from target limit 1) end,
           coalesce(array_agg(meant.id order by meant.position), '{}')
    from meant
  $statement$, query)
  into reached, ids
  using as_of, surely_seen, after, max_looked::bigint, pg_snapshot_xmax(as_of)::text::bigint, age(pg_snapshot_xmin(as_of)::xid), max_rows::bigint;
end $$;
