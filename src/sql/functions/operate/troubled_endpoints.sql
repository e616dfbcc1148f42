-- Endpoints with a state other than normal delivery: stopped, with a circuit that isn't closed, or held; by name, with their health and since when.
-- Indexes: endpoints_inactive, breakers_unwell, endpoints_pkey, and those of health_of.
create or replace function holdfast_internal.troubled_endpoints(max_rows integer)
returns table (
  endpoint text, state text, reason text, circuit text, failures integer, opened_at timestamptz, probe_at timestamptz, held_until timestamptz,
  pending bigint, dead_letters bigint, state_changed_at timestamptz
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query
  with troubled as materialized (
    select known.id, known.name, known.state_changed_at from holdfast_internal.endpoints as known where known.state <> 'active'
    union
    select known.id, known.name, known.state_changed_at from holdfast_internal.breakers as breaker
    cross join lateral (select one.id, one.name, one.state_changed_at from holdfast_internal.endpoints as one where one.id = breaker.lane_id offset 0) as known
    where (breaker.state <> 'closed' or breaker.held_until is not null or breaker.hold_reason is not null)
      and (breaker.state <> 'closed' or breaker.held_until > now() or breaker.hold_reason is not null)
  ), first as materialized (
    select unwell.id, unwell.name, unwell.state_changed_at from troubled as unwell order by unwell.name limit max_rows
  )
  select health.endpoint, health.state, health.reason, health.circuit, health.failures, health.opened_at, health.probe_at, health.held_until,
         health.pending, health.dead_letters, first.state_changed_at
  from first cross join lateral holdfast_internal.health_of(first.id) as health
  order by first.name;
end $$;
