-- In how many milliseconds the next run of this queue falls due; null if no run waits for a time. Indexes: runs_due, runs_suspect, runs_targeted.
create or replace function holdfast_internal.next_due_ms(lane integer, targets text[]) returns double precision
language sql as $$
  select greatest(0, extract(epoch from min(due_at) - clock_timestamp())::double precision * 1000) from (
    select next.due_at from generate_series(0, 3) as level cross join lateral (
      select due_at from holdfast_internal.runs
      where lane_id = lane and priority = level and due_at is not null and target is null and crashes = 0 and due_at > now() and due_at < 'infinity'
      order by due_at limit 1
    ) as next
    union all
    select next.due_at from generate_series(0, 3) as level cross join lateral (
      select due_at from holdfast_internal.runs
      where lane_id = lane and priority = level and crashes > 0 and due_at > now() and due_at < 'infinity'
        and (target is null or target = any (targets))
      order by due_at limit 1
    ) as next
    union all
    select next.due_at from unnest(targets) as wanted cross join lateral (
      select due_at from holdfast_internal.runs
      where lane_id = lane and target = wanted and due_at > now() and due_at < 'infinity' order by due_at limit 1
    ) as next
  ) as waiting
  -- Returns no row, thus null. greatest() alone would return 0, and an idle worker would claim again at once, endlessly.
  having min(due_at) is not null
$$;
