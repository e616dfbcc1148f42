-- An overview of endpoints: those that need attention first, then the others, each by name. Indexes: endpoints_inactive, breakers_unwell,
-- endpoints_name_key, and those of health_of.
create or replace function holdfast_internal.overview(max_rows integer)
returns table (
  endpoint text, state text, reason text, circuit text, pending bigint, in_flight integer, oldest_due_at timestamptz, dead_letters bigint
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query
  with troubled as materialized (
    select known.id, known.name from holdfast_internal.endpoints as known where known.state <> 'active'
    union
    select known.id, known.name from holdfast_internal.breakers as breaker
    cross join lateral (select one.id, one.name from holdfast_internal.endpoints as one where one.id = breaker.lane_id offset 0) as known
    where (breaker.state <> 'closed' or breaker.held_until is not null or breaker.hold_reason is not null)
      and (breaker.state <> 'closed' or breaker.held_until > now() or breaker.hold_reason is not null)
  ), first as materialized (
    select unwell.id, unwell.name from troubled as unwell order by unwell.name limit max_rows
  ), rest as materialized (
    -- Enough rows, whichever of these are among the first.
    select known.id, known.name from holdfast_internal.endpoints as known order by known.name limit 2 * max_rows
  ), chosen as (
    select first.id, first.name, 0 as place from first
    union all
    select rest.id, rest.name, 1 from rest where not exists (select from troubled where troubled.id = rest.id)
    order by place, name limit max_rows
  )
  select health.endpoint, health.state, health.reason, health.circuit, health.pending, health.in_flight, health.oldest_due_at, health.dead_letters
  from chosen cross join lateral holdfast_internal.health_of(chosen.id) as health
  order by chosen.place, chosen.name;
end $$;
