-- A row for each endpoint and queue that has letters. The numbers come from the counts, the times from dead_letters_lane.
create or replace function holdfast.dlq_summary()
returns table (
  endpoint text, dead bigint, redriven bigint, resolved bigint, discarded bigint, oldest timestamptz, newest timestamptz, queue text
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_bitmapscan = off set jit = off as $$
begin
  return query
  with lanes as materialized (
    select counted.lane_id,
      coalesce(sum(counted.letters) filter (where counted.state = 'open'), 0)::bigint as open,
      coalesce(sum(counted.letters) filter (where counted.state = 'redriven'), 0)::bigint as redriven,
      coalesce(sum(counted.letters) filter (where counted.state = 'resolved'), 0)::bigint as resolved,
      coalesce(sum(counted.letters) filter (where counted.state = 'discarded'), 0)::bigint as discarded
    from holdfast_internal.counted_letters() as counted group by counted.lane_id having sum(counted.letters) > 0
  )
  select (select known.name from holdfast_internal.endpoints as known where known.id = lanes.lane_id),
    lanes.open, lanes.redriven, lanes.resolved, lanes.discarded, first.created_at, last.created_at,
    (select line.name from holdfast_internal.queues as line where line.id = lanes.lane_id)
  from lanes
  left join lateral (
    -- As row comparisons, so that no other index has this order.
    select letter.created_at from holdfast_internal.dead_letters as letter
    where letter.lane_id >= lanes.lane_id and (letter.lane_id, letter.state, letter.id) >= (lanes.lane_id, 'open', 0)
      and (letter.lane_id, letter.state, letter.id) <= (lanes.lane_id, 'open', 9223372036854775807)
    order by letter.lane_id, letter.state, letter.id limit 1
  ) as first on true
  left join lateral (
    select letter.created_at from holdfast_internal.dead_letters as letter
    where letter.lane_id <= lanes.lane_id and (letter.lane_id, letter.state, letter.id) <= (lanes.lane_id, 'open', 9223372036854775807)
      and (letter.lane_id, letter.state, letter.id) >= (lanes.lane_id, 'open', 0)
    order by letter.lane_id desc, letter.state desc, letter.id desc limit 1
  ) as last on true
  order by 2 desc, 1;
end $$;
