-- The next rows that an operation touches: `query` is what operation_targets returns. It is written for the order of one index, and the settings hold
-- the planner to that; what is done to the rows happens elsewhere, where small sets may be sorted.
create or replace function holdfast_internal.next_targets(
  query text, as_of pg_snapshot, surely_seen bigint, after bigint, max_rows integer, out looked_at integer, out last_position bigint, out ids bigint[]
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
begin
  execute format('select count(*), max(target.position), array_agg(target.id order by target.position) from (%s) as target', query)
  into looked_at, last_position, ids
  using as_of, surely_seen, after, max_rows::bigint, pg_snapshot_xmax(as_of)::text::bigint, age(pg_snapshot_xmin(as_of)::xid);
end $$;
