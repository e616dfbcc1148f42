-- The findings of a rule of this kind above its threshold: subject and value.
create or replace function holdfast_internal.alert_findings(kind text, threshold double precision, only_endpoint text, only_tag text)
returns table (subject text, value double precision)
language plpgsql stable set enable_bitmapscan = off set jit = off as $$
declare
  lanes integer[];
  scope text := coalesce(only_endpoint, 'tag ' || only_tag, 'all');
begin
  if only_endpoint is not null or only_tag is not null then
    lanes := array(select id from holdfast_internal.endpoints as endpoint where holdfast_internal.in_scope(endpoint, only_endpoint, only_tag));
  end if;
  case kind
  when 'dead_letters' then
    return query select scope, sum(letters)::double precision from holdfast_internal.counted_letters()
    where state = 'open' and (lanes is null or lane_id = any (lanes)) having sum(letters) > threshold;
  when 'dead_letter_rate' then
    -- Ids follow the clock: the letters of the last minute are the end of the primary key.
    return query select scope, letters::double precision
    from holdfast_internal.recent_letters(holdfast_internal.id_at(clock_timestamp() - interval '1 minute'), lanes) as letters where letters > threshold;
  when 'failure_rate' then
    return query select * from holdfast_internal.failure_rates(threshold, lanes);
  when 'persisting_critical' then
    return query select scope, total::double precision from (
      select (
        select coalesce(sum(letters), 0) from holdfast_internal.counted_letters()
        where state = 'open' and criticality = 2 and (lanes is null or lane_id = any (lanes))
      ) + (
        select holdfast_internal.overdue_critical(lanes, 100000)
      ) as total
    ) as persisting where total > threshold;
  when 'rejecting', 'endpoint_disabled' then
    return query select endpoint.name, extract(epoch from clock_timestamp() - endpoint.state_changed_at)::double precision
    from holdfast_internal.endpoints as endpoint
    where endpoint.state = case kind when 'rejecting' then 'rejecting' else 'disabled' end
      and holdfast_internal.in_scope(endpoint, only_endpoint, only_tag);
  when 'circuit_open' then
    return query select endpoint.name, extract(epoch from clock_timestamp() - breaker.opened_at)::double precision
    from holdfast_internal.breakers as breaker join holdfast_internal.endpoints as endpoint on endpoint.id = breaker.lane_id
    where breaker.state <> 'closed' and breaker.opened_at < clock_timestamp() - make_interval(secs => threshold)
      and holdfast_internal.in_scope(endpoint, only_endpoint, only_tag);
  when 'backlog_age' then
    return query select waiting.name, extract(epoch from clock_timestamp() - owed.since)::double precision
    from holdfast_internal.oldest_owed_in(array(
      select stats.lane_id from holdfast_internal.lane_stats as stats join holdfast_internal.endpoints as endpoint on endpoint.id = stats.lane_id
      where stats.pending > 0 and endpoint.state = 'active' and holdfast_internal.in_scope(endpoint, only_endpoint, only_tag)
      limit 2000
    )) as owed
    cross join lateral (select known.name from holdfast_internal.endpoints as known where known.id = owed.lane_id limit 1) as waiting
    where owed.since < clock_timestamp() - make_interval(secs => threshold);
    if lanes is null then
      return query select 'queue ' || queue.name, extract(epoch from clock_timestamp() - waiting.since)::double precision
      from (select known.id, known.name from holdfast_internal.queues as known where known.state = 'active' order by known.name limit 1000) as queue
      cross join lateral (select holdfast_internal.oldest_waiting_run(queue.id) as since) as waiting
      where waiting.since < clock_timestamp() - make_interval(secs => threshold);
    end if;
  when 'backlog' then
    return query select endpoint.name, stats.pending::double precision
    from holdfast_internal.lane_stats as stats join holdfast_internal.endpoints as endpoint on endpoint.id = stats.lane_id
    where stats.pending > threshold and holdfast_internal.in_scope(endpoint, only_endpoint, only_tag);
    if lanes is null then
      return query select 'queue ' || (gauge.labels ->> 'queue'), gauge.value
      from holdfast_internal.queue_metrics() as gauge where gauge.metric = 'queue_runs' and gauge.value > threshold;
    end if;
  when 'node_lost' then
    -- A process that comes back under its name isn't lost; one that stays away is reported for an hour.
    return query select detail ->> 'name', extract(epoch from clock_timestamp() - max(at))::double precision from holdfast_internal.audit_log
    where action in ('node.lost', 'worker.lost') and action = 'node.lost' and at > clock_timestamp() - interval '1 hour'
      and not exists (select from holdfast_internal.nodes as alive where alive.name = detail ->> 'name')
    group by 1;
  when 'worker_lost' then
    return query select coalesce(detail ->> 'name', audit_log.subject), extract(epoch from clock_timestamp() - max(at))::double precision
    from holdfast_internal.audit_log
    where action in ('node.lost', 'worker.lost') and action = 'worker.lost' and at > clock_timestamp() - interval '1 hour'
      and not exists (select from holdfast_internal.workers as alive where alive.name = detail ->> 'name')
    group by 1;
  when 'job_disabled' then
    return query select job.name, extract(epoch from clock_timestamp() - job.state_changed_at)::double precision
    from holdfast_internal.jobs as job where job.state = 'disabled';
  when 'job_unhandled' then
    return query select lonely.job, extract(epoch from clock_timestamp() - lonely.since)::double precision
    from holdfast_internal.unhandled_jobs() as lonely where lonely.since < clock_timestamp() - make_interval(secs => threshold);
  when 'source_disconnected' then
    -- A source that Holdfast has stopped (rejecting) receives nothing either.
    return query select source.name, extract(epoch from clock_timestamp() - lost.since)::double precision
    from holdfast_internal.event_sources as source
    cross join lateral (
      select greatest(source.state_changed_at, source.created_at, max(report.since)) as since,
             coalesce(bool_or(report.state in ('connected', 'stalled')), false) as is_connected
      from holdfast_internal.source_reports as report join holdfast_internal.nodes as alive on alive.incarnation = report.incarnation
      where report.source_id = source.id and alive.beat_at > clock_timestamp() - interval '10 seconds'
    ) as lost
    where (source.state = 'rejecting' or (source.state = 'active' and not lost.is_connected))
      and lost.since < clock_timestamp() - make_interval(secs => threshold);
  when 'broker_dead_letter_rate' then
    return query select 'broker', letters::double precision
    from holdfast_internal.broker_letters(clock_timestamp() - interval '1 minute') as letters where letters > threshold;
  when 'broker_dead_letters' then
    return query select 'broker', depth.value from holdfast_internal.broker_metrics() as depth
    where depth.metric = 'broker_dead_letter_depth' and depth.value > threshold;
  when 'broker_disconnected' then
    return query select said.node, (said.report ->> 'sinceMs')::double precision / 1000 from holdfast_internal.live_broker_reports() as said
    where said.report ->> 'state' <> 'connected' and (said.report ->> 'sinceMs')::double precision / 1000 > threshold;
  when 'partition_upkeep' then
    return query select task.name, task.failures::double precision from holdfast_internal.maintenance_tasks as task
    where task.name = 'partitions' and (
      task.failures >= threshold or coalesce(task.last_succeeded_at < clock_timestamp() - interval '6 hours', false)
    );
  when 'maintenance_failing' then
    return query select task.name, task.failures::double precision from holdfast_internal.maintenance_tasks as task
    where task.name <> 'partitions' and task.failures >= threshold;
  when 'disk_low' then
    -- Only an operator knows how large the disk of a server elsewhere is. Nodes that share the disk report it themselves. The size is computed only if it
    -- is compared: PostgreSQL looks at each file of the database for it, 10 ms each time.
    if holdfast_internal.setting_integer('disk_bytes') > 0 then
      return query select 'database', 1 - database.bytes::double precision / disk.bytes
      from (select pg_database_size(current_database()) as bytes) as database
      cross join (select holdfast_internal.setting_integer('disk_bytes') as bytes) as disk
      where database.bytes > disk.bytes * (1 - threshold);
    end if;
  when 'lane_forgotten' then
    return query select audit_log.subject, count(*)::double precision from holdfast_internal.audit_log
    where action = 'lane.revived' and at > clock_timestamp() - interval '1 hour'
    group by 1 having count(*) > threshold;
  when 'quarantine' then
    return query select coalesce(endpoint.name, queue.name, kept.lane_id::text), count(*)::double precision
    from (select lane_id from holdfast_internal.quarantine limit 10000) as kept
    left join holdfast_internal.endpoints as endpoint on endpoint.id = kept.lane_id
    left join holdfast_internal.queues as queue on queue.id = kept.lane_id
    group by 1 having count(*) > threshold;
  else
    -- A kind that a newer version has added.
    return;
  end case;
end $$;
