-- The partitions of a table and their ranges of ids, without the default partition.
create or replace function holdfast_internal.partition_ranges(parent text) returns table (name text, from_id bigint, to_id bigint)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select part.relname::text, bounds[1]::bigint, bounds[2]::bigint
  from pg_inherits join pg_class as part on part.oid = inhrelid
  cross join lateral regexp_match(pg_get_expr(part.relpartbound, part.oid), $bound$FROM \('?(\d+)'?\) TO \('?(\d+)'?\)$bound$) as bounds
  where inhparent = format('holdfast_internal.%I', parent)::regclass and bounds is not null
$$;
