-- Every installation-wide setting: its value, its allowed values, and where it is pinned.
create or replace function holdfast.describe_settings()
returns table (name text, value jsonb, fallback jsonb, unit text, description text, effect text, pinned_by text, pinned_on text,
               changed_at timestamptz, changed_by text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select known.name, coalesce(current.value, known.fallback), known.fallback, known.unit, known.description, known.effect, pin.source, pin.node,
         current.changed_at, current.changed_by
  from holdfast_internal.known_settings() as known
  left join holdfast_internal.settings as current on current.name = known.name
  left join lateral (
    select each.source, node.name as node
    from holdfast_internal.setting_pins as each join holdfast_internal.nodes as node on node.incarnation = each.incarnation
    where each.name = known.name order by each.incarnation desc limit 1
  ) as pin on true
$$;
