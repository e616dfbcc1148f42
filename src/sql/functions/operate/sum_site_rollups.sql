-- The counts of the whole installation, in steps, the oldest first. A few hundred rows for any window. Index: site_rollups_pkey.
create or replace function holdfast_internal.sum_site_rollups(of_step integer, since timestamptz, step interval)
returns table (
  starts_at timestamptz, accepted bigint, backlog bigint, attempts bigint, successes bigint, throttled bigint, latencies bigint[]
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
#variable_conflict use_column
begin
  return query
    with chosen as materialized (
      select rollup.*, date_bin(step, rollup.starts_at, '2024-01-01 00:00:00Z') as at from holdfast_internal.site_rollups as rollup
      where rollup.step_seconds = of_step and rollup.starts_at >= since
    ), totals as (
      select at, sum(chosen.accepted)::bigint as accepted, max(chosen.backlog) as backlog, sum(chosen.attempts)::bigint as attempts,
             sum(chosen.successes)::bigint as successes, sum(chosen.throttled)::bigint as throttled
      from chosen group by 1
    ), histograms as (
      select place.at, array_agg(total order by bucket) as latencies from (
        select at, bucket, sum(count)::bigint as total
        from chosen cross join unnest(chosen.latencies) with ordinality as counts (count, bucket) group by 1, 2
      ) as place group by 1
    )
    select totals.at, totals.accepted, totals.backlog, totals.attempts, totals.successes, totals.throttled,
           coalesce(histograms.latencies, '{}')
    from totals left join histograms using (at)
    order by 1;
end $$;
