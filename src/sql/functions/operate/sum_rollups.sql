-- Rollups of one period, added up in steps, of one lane or of all. Index: rollups_pkey for one lane, rollups_age for all of them.
create or replace function holdfast_internal.sum_rollups(only_lane integer, of_period smallint, since timestamptz, step interval)
returns table (lane_id integer, starts_at timestamptz, attempts bigint, successes bigint, throttled bigint, durations bigint[], answers jsonb)
language plpgsql stable as $$
#variable_conflict use_column
begin
  if only_lane is not null then
    return query select * from holdfast_internal.sum_rollups_of_lane(only_lane, of_period, since, step);
    return;
  end if;
  return query
  with chosen as (
    select rollup.*, date_bin(step, rollup.starts_at, '2024-01-01 00:00:00Z') as at from holdfast_internal.rollups as rollup
    where rollup.period = of_period and rollup.starts_at >= since
  ), totals as (
    select chosen.lane_id, at, sum(chosen.attempts)::bigint as attempts, sum(chosen.successes)::bigint as successes,
           sum(chosen.throttled)::bigint as throttled
    from chosen group by 1, 2
  ), histograms as (
    select place.lane_id, at, array_agg(total order by bucket) as durations from (
      select chosen.lane_id, at, bucket, sum(count)::bigint as total
      from chosen cross join unnest(chosen.durations) with ordinality as counts (count, bucket) group by 1, 2, 3
    ) as place group by 1, 2
  ), mixes as (
    select answer.lane_id, at, jsonb_object_agg(key, total) as answers from (
      select chosen.lane_id, at, key, sum(value::bigint) as total from chosen cross join jsonb_each_text(chosen.answers) group by 1, 2, 3
    ) as answer group by 1, 2
  )
  select totals.lane_id, totals.at, totals.attempts, totals.successes, totals.throttled, coalesce(histograms.durations, '{}'),
         coalesce(mixes.answers, '{}')
  from totals left join histograms using (lane_id, at) left join mixes using (lane_id, at)
  order by 1, 2;
end $$;
