-- The next rows that a replay processes, like next_targets: `source` is the result of replay_targets. Rows whose endpoint was deleted are left out.
create or replace function holdfast_internal.next_replays(
  source text, as_of pg_snapshot, as_of_at timestamptz, after bigint, max_rows integer, max_looked integer, out reached bigint,
  out message_ids bigint[], out lanes integer[], out routes integer[], out low bigint, out high bigint
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
begin
  execute format($statement$
    with target as materialized (%s), meant as materialized (select * from target where is_meant order by position limit $7)
    select case when count(*) >= $7 then max(meant.position) else (select target.reached from target limit 1) end,
           array_agg(message_id order by position) filter (where endpoint.id is not null),
           array_agg(lane_id order by position) filter (where endpoint.id is not null),
           array_agg(route_id order by position) filter (where endpoint.id is not null), min(message_id), max(message_id)
    from meant
    left join lateral (select known.id from holdfast_internal.endpoints as known where known.id = meant.lane_id limit 1) as endpoint on true
  $statement$, source)
  into reached, message_ids, lanes, routes, low, high
  using as_of, holdfast_internal.id_at(as_of_at - interval '1 day'), after, max_looked::bigint, pg_snapshot_xmax(as_of)::text::bigint,
        age(pg_snapshot_xmin(as_of)::xid), max_rows::bigint;
end $$;
