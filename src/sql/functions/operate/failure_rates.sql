-- Active endpoints that failed more often than the threshold in the last six minutes, and how often. A stopped endpoint has an alert of its own, and
-- its rate can't change until it is enabled again. Indexes: rollups_age, endpoints_pkey.
create or replace function holdfast_internal.failure_rates(threshold double precision, lanes integer[])
returns table (subject text, value double precision)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
declare
  since timestamptz := clock_timestamp() - interval '6 minutes';
begin
  return query
    with recent as materialized (
      select rollup.lane_id, rollup.attempts - rollup.throttled as tries, rollup.successes from holdfast_internal.rollups as rollup
      -- As row comparisons and in order, so that no other index serves.
      where (rollup.period, rollup.starts_at) > (1::smallint, since) and (rollup.period, rollup.starts_at) < (1::smallint, 'infinity')
      order by rollup.period, rollup.starts_at
    ), sums as (
      select recent.lane_id, sum(recent.tries) as tries, sum(recent.successes) as successes from recent
      where lanes is null or recent.lane_id = any (lanes) group by 1
    )
    select endpoint.name, 1 - sums.successes::double precision / sums.tries
    from sums cross join lateral (
      select known.name from holdfast_internal.endpoints as known where known.id = sums.lane_id and known.state = 'active' limit 1
    ) as endpoint
    where sums.tries >= 20 and sums.successes < sums.tries * (1 - threshold);
end $$;
