-- Bundles of these transactions that the cursor passed before they became visible. Index: run_bundles_pkey.
create or replace function holdfast_internal.late_bundles(lane integer, ended xid8[], above bigint, cursors bigint[]) returns setof holdfast_internal.run_bundles
language sql stable as $$
  select late.* from generate_series(0, 3) as level cross join lateral (
    select * from holdfast_internal.run_bundles as bundle
    where bundle.lane_id = lane
      and (bundle.priority, bundle.last_id) > (level, above) and (bundle.priority, bundle.last_id) <= (level, cursors[level + 1])
      and bundle.published_by = any (ended)
    order by bundle.priority, bundle.last_id
  ) as late
$$;
