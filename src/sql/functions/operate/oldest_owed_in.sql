-- Since when the oldest delivery of each of these lanes has been pending; lanes without any are left out. A delivery that is scheduled for later doesn't
-- count yet. Reads the first hundred of each priority. Index: deliveries_ready.
create or replace function holdfast_internal.oldest_owed_in(lanes integer[]) returns table (lane_id integer, since timestamptz)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
#variable_conflict use_column
begin
  return query
  select lane, min(coalesce(head.owed_at, holdfast_internal.time_of_id(head.id)))
  from unnest(lanes) as lane cross join generate_series(0, 3) as level cross join lateral (
    select early.id, early.owed_at
    from (
      -- As row comparisons and not `priority = level order by id`: no other index has this order, and an empty priority must not cost a scan of the
      -- whole backlog.
      select owing.id, owing.owed_at from holdfast_internal.deliveries as owing
      where owing.lane_id = lane and owing.priority <= level and (owing.priority, owing.id) >= (level, 0)
      order by owing.priority, owing.id limit 100
    ) as early
    where coalesce(early.owed_at <= now(), true)
    limit 1
  ) as head
  group by lane;
end $$;
