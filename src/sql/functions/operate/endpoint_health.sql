create or replace function holdfast.endpoint_health(endpoint_name text default null)
returns table (
  endpoint text, state text, reason text, circuit text, failures integer, opened_at timestamptz, probe_at timestamptz,
  held_until timestamptz, pending bigint, in_flight integer, oldest_due_at timestamptz, dead_letters bigint
)
language sql stable as $$
  select
    endpoint.name,
    case when endpoint.state = 'active' and (breaker.hold_reason is not null or breaker.held_until > now()) then 'held' else endpoint.state end,
    coalesce(endpoint.state_reason, breaker.hold_reason),
    coalesce(breaker.state, 'closed'), coalesce(breaker.failures, 0), breaker.opened_at, breaker.probe_at, breaker.held_until,
    coalesce(stats.pending, 0), coalesce(stats.in_flight, 0),
    (
      select min(coalesce(owed.owed_at, holdfast_internal.time_of_id(owed.id)))
      from generate_series(0, 3) as level cross join lateral (
        -- As a range of pairs: see oldest_owed.
        select id, owed_at from holdfast_internal.deliveries
        where lane_id = endpoint.id and (priority, id) >= (level, 0) and (priority, id) < (level + 1, 0)
        order by priority, id limit 1
      ) as owed
    ),
    (select count(*) from holdfast_internal.dead_letters as letter where letter.lane_id = endpoint.id and letter.state = 'open')
  from holdfast_internal.endpoints as endpoint
  left join holdfast_internal.breakers as breaker on breaker.lane_id = endpoint.id
  left join holdfast_internal.lane_stats as stats on stats.lane_id = endpoint.id
  where endpoint_name is null or endpoint.name = endpoint_name
  order by endpoint.name
$$;
