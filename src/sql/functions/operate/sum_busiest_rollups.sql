-- Rollups of one period since a time, added up for each of the busiest endpoints, at most `max_endpoints`: finding these reads one number of each
-- rollup, and only theirs are added up. Indexes: rollups_age, endpoints_pkey, rollups_pkey.
create or replace function holdfast_internal.sum_busiest_rollups(of_period smallint, since timestamptz, max_endpoints integer)
returns table (lane_id integer, starts_at timestamptz, attempts bigint, successes bigint, throttled bigint, durations bigint[], answers jsonb)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
begin
  return query
    with totals as materialized (
      select recent.lane_id, sum(recent.attempts) as attempts from (
        select rollup.lane_id, rollup.attempts from holdfast_internal.rollups as rollup
        -- As row comparisons and in order, so that no other index serves.
        where (rollup.period, rollup.starts_at) >= (of_period, since) and (rollup.period, rollup.starts_at) < (of_period, 'infinity')
        order by rollup.period, rollup.starts_at
      ) as recent group by 1
    ), busiest as (
      select totals.lane_id from totals cross join lateral (
        select from holdfast_internal.endpoints as known where known.id = totals.lane_id limit 1
      ) as endpoint
      order by totals.attempts desc, totals.lane_id limit max_endpoints
    )
    select sums.* from busiest cross join lateral holdfast_internal.sum_rollups_of_lane(busiest.lane_id, of_period, since, interval '100000 days') as sums;
end $$;
