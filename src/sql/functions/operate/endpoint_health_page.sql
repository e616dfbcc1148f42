-- A page of endpoints by name, after `after_name`, each with its health: all, or only those with a state other than normal delivery. `name_has`: text
-- that the name contains. Indexes: endpoints_name_key, those of troubled_endpoints and of health_of.
create or replace function holdfast_internal.endpoint_health_page(
  after_name text, max_rows integer, name_has text, only_tag text, only_state text, only_troubled boolean
)
returns table (
  lane_id integer, endpoint text, state text, reason text, circuit text, failures integer, opened_at timestamptz, probe_at timestamptz,
  held_until timestamptz, pending bigint, in_flight integer, oldest_due_at timestamptz, dead_letters bigint, concurrency integer, tags text[],
  url text
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  troubled text[];
begin
  if only_troubled then
    troubled := array(select unwell.endpoint from holdfast_internal.troubled_endpoints(10000) as unwell);
  end if;
  return query
  with chosen as materialized (
    select known.id, known.name, known.settings, known.config, known.tags from holdfast_internal.endpoints as known
    where known.name > after_name and (name_has is null or strpos(known.name, name_has) > 0)
      and (only_tag is null or only_tag = any (known.tags)) and (only_state is null or known.state = only_state)
      and (troubled is null or known.name = any (troubled))
    order by known.name limit max_rows
  )
  select chosen.id, health.endpoint, health.state, health.reason, health.circuit, health.failures, health.opened_at, health.probe_at,
         health.held_until, health.pending, health.in_flight, health.oldest_due_at, health.dead_letters,
         (chosen.settings -> 'limits' ->> 'concurrency')::integer, chosen.tags, holdfast_internal.shown_url(chosen.config)
  from chosen cross join lateral holdfast_internal.health_of(chosen.id) as health
  order by chosen.name;
end $$;
