-- Gauges of chosen endpoints: these by name, and the `top` with the most pending deliveries.
create or replace function holdfast.endpoint_metrics(names text[], top integer) returns table (metric text, labels jsonb, value double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
begin
  if top is null or top < 0 then
    raise exception 'top must be 0 or more, not %', coalesce(top::text, 'null') using errcode = '22023';
  end if;
  return query
  with chosen as (
    select id, name from holdfast_internal.endpoints where name = any (names)
    union
    (
      select endpoint.id, endpoint.name
      from holdfast_internal.lane_stats as stats join holdfast_internal.endpoints as endpoint on endpoint.id = stats.lane_id
      where stats.pending > 0 order by stats.pending desc, endpoint.id limit least(top, 1000)
    )
  ), gauges as (
    select chosen.name, coalesce(stats.pending, 0) as pending, coalesce(stats.in_flight, 0) as in_flight,
           coalesce(greatest(0, extract(epoch from clock_timestamp() - holdfast_internal.oldest_owed(chosen.id))), 0) as oldest,
           holdfast_internal.open_letters_of(chosen.id) as letters
    from chosen left join holdfast_internal.lane_stats as stats on stats.lane_id = chosen.id
  )
  select gauge.metric, jsonb_build_object('endpoint', gauges.name), gauge.value
  from gauges cross join lateral (values
    ('endpoint_backlog', pending::double precision), ('endpoint_in_flight', in_flight::double precision),
    ('endpoint_oldest_due_seconds', oldest::double precision), ('endpoint_dead_letters', letters::double precision)
  ) as gauge (metric, value);
end $$;
