-- Since when the lane's oldest delivery has been owed; null when none is. One that is scheduled for later isn't owed yet. Looks at the
-- first hundred of each priority. Index: deliveries_ready.
create or replace function holdfast_internal.oldest_owed(lane integer) returns timestamptz
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off as $$
begin
  return (
    select min(head.since)
    from generate_series(0, 3) as level cross join lateral (
      select coalesce(early.owed_at, holdfast_internal.time_of_id(early.id)) as since
      from (
        -- As a range of triples and not `lane_id = … and priority = level order by id`: no other index has this order, and an empty priority
        -- must not cost a walk over the whole backlog.
        select id, owed_at from holdfast_internal.deliveries
        where (lane_id, priority, id) >= (lane, level, 0) and (lane_id, priority, id) < (lane, level + 1, 0)
        order by lane_id, priority, id limit 100
      ) as early
      where coalesce(early.owed_at <= now(), true)
      limit 1
    ) as head
  );
end $$;
