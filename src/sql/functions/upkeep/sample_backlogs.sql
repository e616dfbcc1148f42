-- Records how many deliveries are pending for the endpoints with the most, and 0 for those of the last sample that have none any more. Returns how
-- many rows it wrote. Indexes: lane_backlogs_age, lane_backlogs_pkey, lane_stats_pkey; lane_stats has a row for each endpoint and is read whole.
create or replace function holdfast_internal.sample_backlogs(max_lanes integer) returns integer
language plpgsql set jit = off as $$
declare
  minute constant timestamptz := date_trunc('minute', now());
  noted integer;
begin
  with most as materialized (
    select stats.lane_id, stats.pending from holdfast_internal.lane_stats as stats
    where stats.pending > 0 order by stats.pending desc, stats.lane_id limit max_lanes
  ), last as (
    select max(starts_at) as at from (
      select starts_at from holdfast_internal.lane_backlogs where step_seconds = 60 and starts_at < minute order by step_seconds desc, starts_at desc limit 1
    ) as newest
  ), drained as (
    select known.lane_id, 0 as pending from last join holdfast_internal.lane_backlogs as known on known.step_seconds = 60 and known.starts_at = last.at
    where known.pending > 0
      and not coalesce((select stats.pending > 0 from holdfast_internal.lane_stats as stats where stats.lane_id = known.lane_id), false)
  )
  insert into holdfast_internal.lane_backlogs as known (lane_id, step_seconds, starts_at, pending)
  select lane_id, step, date_bin(make_interval(secs => step), minute, '2024-01-01 00:00:00Z'), pending
  from (select * from most union all select * from drained) as owed cross join (values (60), (3600)) as steps (step)
  order by 1, 2
  on conflict (lane_id, step_seconds, starts_at) do update set pending = greatest(known.pending, excluded.pending);
  get diagnostics noted = row_count;
  return noted;
end $$;
