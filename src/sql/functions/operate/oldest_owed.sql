-- Since when the lane's oldest delivery has been owed; null when none is. One that is scheduled for later isn't owed yet. Looks at the
-- first hundred of each priority. Index: deliveries_ready.
create or replace function holdfast_internal.oldest_owed(lane integer) returns timestamptz
language sql stable as $$
  select min(head.since)
  from generate_series(0, 3) as level cross join lateral (
    select coalesce(early.owed_at, holdfast_internal.time_of_id(early.id)) as since
    from (
      -- As a range of pairs and not `priority = level … order by id`: for that the primary key seems as good to a planner, and an empty
      -- priority costs a walk over the whole backlog.
      select id, owed_at from holdfast_internal.deliveries
      where lane_id = lane and (priority, id) >= (level, 0) and (priority, id) < (level + 1, 0)
      order by priority, id limit 100
    ) as early
    where coalesce(early.owed_at <= now(), true)
    order by early.id limit 1
  ) as head
$$;
