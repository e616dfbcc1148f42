-- The gauges of sources: a hundred of them at most.
create or replace function holdfast_internal.source_metrics() returns table (metric text, labels jsonb, value double precision)
language sql stable as $$
  select gauge.metric, jsonb_build_object('source', source.name), gauge.value
  from holdfast_internal.event_sources as source
  cross join lateral (
    select count(*) filter (where report.state in ('connected', 'stalled'))::double precision as connections,
           coalesce(sum(report.unacknowledged), 0)::double precision as unacknowledged
    from holdfast_internal.source_reports as report join holdfast_internal.nodes as alive on alive.incarnation = report.incarnation
    where report.source_id = source.id and alive.beat_at > clock_timestamp() - interval '10 seconds'
  ) as seen
  cross join lateral (
    select count(*)::double precision as rejects from (
      select from holdfast_internal.source_rejects as reject where reject.source_id = source.id limit 10000
    ) as found
  ) as counted
  cross join lateral (
    values ('source_connections', seen.connections), ('source_unacknowledged', seen.unacknowledged), ('source_rejects', counted.rejects)
  ) as gauge (metric, value)
$$;
