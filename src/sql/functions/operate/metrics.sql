-- The cluster's gauges, named as in Prometheus without the prefix. Circuits: those of endpoints that aren't healthy, a thousand at most.
create or replace function holdfast.metrics() returns table (metric text, labels jsonb, value double precision)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
begin
  return query
  select 'backlog', '{}'::jsonb, coalesce(
    -- If no node reports, the planner's last estimate is used.
    (select sum(pending)::double precision from holdfast_internal.nodes where beat_at > clock_timestamp() - interval '10 seconds'),
    (select greatest(reltuples, 0)::double precision from pg_class where oid = 'holdfast_internal.deliveries'::regclass)
  )
  union all
  select 'oldest_due_seconds', '{}', coalesce(greatest(0, extract(epoch from clock_timestamp() - min(owed.since))), 0)
  from holdfast_internal.oldest_owed_in(array(
    select lane_id from holdfast_internal.lane_stats join holdfast_internal.endpoints as endpoint on endpoint.id = lane_id
    where pending > 0 and endpoint.state in ('active', 'rejecting') limit 2000
  )) as owed
  union all
  select 'dead_letters', '{}', holdfast_internal.open_letters()
  union all
  select 'nodes', '{}', count(*) from holdfast_internal.nodes where beat_at > clock_timestamp() - interval '10 seconds';
  return query
  select 'workers', '{}'::jsonb, count(*)::double precision from holdfast_internal.workers
  where beat_at > clock_timestamp() - make_interval(secs => greatest(10, lease_ms / 1000.0));
  return query
  select 'circuit_state', jsonb_build_object('endpoint', unwell.name), unwell.circuit
  from (
    -- breakers_unwell and endpoints_inactive: rows of healthy endpoints are not read.
    select endpoint.name, case breaker.state when 'open' then 2 when 'half_open' then 1 else 0 end::double precision as circuit
    from (
      select lane_id from holdfast_internal.breakers
      where (state <> 'closed' or held_until is not null or hold_reason is not null) and (state <> 'closed' or held_until > now() or hold_reason is not null)
      union select id from holdfast_internal.endpoints where state <> 'active' and state in ('rejecting', 'disabled')
    ) as found
    cross join lateral (select one.name from holdfast_internal.endpoints as one where one.id = found.lane_id limit 1) as endpoint
    left join lateral (select one.state from holdfast_internal.breakers as one where one.lane_id = found.lane_id limit 1) as breaker on true
    order by 2 desc, 1 limit 1000
  ) as unwell;
  return query select * from holdfast_internal.queue_metrics();
  return query select * from holdfast_internal.source_metrics();
  return query select * from holdfast_internal.broker_metrics();
end $$;
