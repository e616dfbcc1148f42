-- Rollups of one lane and one period, added up in steps. Index: rollups_pkey.
create or replace function holdfast_internal.sum_rollups_of_lane(lane integer, of_period smallint, since timestamptz, step interval)
returns table (lane_id integer, starts_at timestamptz, attempts bigint, successes bigint, throttled bigint, durations bigint[], answers jsonb)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off
set enable_nestloop = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
begin
  return query
    with chosen as materialized (
      select rollup.*, date_bin(step, rollup.starts_at, '2024-01-01 00:00:00Z') as at from holdfast_internal.rollups as rollup
      -- As row comparisons and in order, so that no other index serves.
      where (rollup.lane_id, rollup.period, rollup.starts_at) >= (lane, of_period, since)
        and (rollup.lane_id, rollup.period, rollup.starts_at) < (lane, of_period, 'infinity')
      order by rollup.lane_id, rollup.period, rollup.starts_at
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
