-- The health of one lane. Indexes: endpoints_pkey, breakers_pkey, lane_stats_pkey, deliveries_ready, letter_counts_pkey.
create or replace function holdfast_internal.health_of(lane integer)
returns table (
  endpoint text, state text, reason text, circuit text, failures integer, opened_at timestamptz, probe_at timestamptz,
  held_until timestamptz, pending bigint, in_flight integer, oldest_due_at timestamptz, dead_letters bigint
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
begin
  return query
  select
    endpoint.name,
    case when endpoint.state = 'active' and (breaker.hold_reason is not null or breaker.held_until > now()) then 'held' else endpoint.state end,
    coalesce(endpoint.state_reason, breaker.hold_reason),
    coalesce(breaker.state, 'closed'), coalesce(breaker.failures, 0), breaker.opened_at, breaker.probe_at, breaker.held_until,
    coalesce(stats.pending, 0), coalesce(stats.in_flight, 0),
    (
      select min(coalesce(owed.owed_at, holdfast_internal.time_of_id(owed.id)))
      from generate_series(0, 3) as level cross join lateral (
        -- As row comparisons: see oldest_owed_in.
        select owing.id, owing.owed_at from holdfast_internal.deliveries as owing
        where owing.lane_id = lane and owing.priority <= level and (owing.priority, owing.id) >= (level, 0)
        order by owing.priority, owing.id limit 1
      ) as owed
    ),
    holdfast_internal.open_letters_of(lane)
  from holdfast_internal.endpoints as endpoint
  left join holdfast_internal.breakers as breaker on breaker.lane_id = lane
  left join holdfast_internal.lane_stats as stats on stats.lane_id = lane
  where endpoint.id = lane;
end $$;
