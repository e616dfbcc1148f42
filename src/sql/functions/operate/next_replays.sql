-- The next rows that a replay takes up, as next_targets: `source` is what replay_targets returns. What has lost its endpoint is looked at and left out.
create or replace function holdfast_internal.next_replays(
  source text, as_of pg_snapshot, as_of_at timestamptz, after bigint, max_rows integer, out looked_at integer, out last_position bigint,
  out message_ids bigint[], out lanes integer[], out routes integer[], out low bigint, out high bigint
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
begin
  execute format($statement$
    select count(*), max(position), array_agg(message_id order by position) filter (where endpoint.id is not null),
           array_agg(lane_id order by position) filter (where endpoint.id is not null),
           array_agg(route_id order by position) filter (where endpoint.id is not null), min(message_id), max(message_id)
    from (%s) as target
    left join lateral (select known.id from holdfast_internal.endpoints as known where known.id = target.lane_id limit 1) as endpoint on true
  $statement$, source)
  into looked_at, last_position, message_ids, lanes, routes, low, high
  using as_of, holdfast_internal.id_at(as_of_at - interval '1 day'), after, max_rows::bigint, pg_snapshot_xmax(as_of)::text::bigint,
        age(pg_snapshot_xmin(as_of)::xid);
end $$;
