-- A year's worth of trouble, for measuring what people and monitors ask. Numbers in braces come from operator-dataset.ts. Each part runs by
-- itself; parts of one group don't touch the same tables, so that two connections share the work.
--
-- Ids follow the clock, as everywhere: event number i gets first_id + i * step, its deliveries the ids behind it (0-5 succeeded, the second of
-- them after a retry; 6 is owed; 7 is dead, its letter is 8), its run (of the same i) 2048, an owed run 3072.

-- part: definitions
insert into holdfast_internal.endpoints (name, transport, tenant, tags, config, settings, state, state_reason)
select format('endpoint-%s', lpad(k::text, 5, '0')), template.transport, case when k % 50 = 49 then 'tenant-' || k end,
       case when k % 10 = 0 then array['team-' || (k / 10) % 20] else '{}' end, template.config, template.settings,
       case when k % 500 = 1 then 'paused' when k % 500 = 2 then 'rejecting' else 'active' end,
       case when k % 500 in (1, 2) then 'filled in' end
from generate_series(0, {endpoints} - 1) as k cross join (select * from holdfast_internal.endpoints where name = 'template') as template;
insert into holdfast_internal.routes (name, event_type, exact_type, lane_id)
select 'route-' || endpoint.name, 'type.' || (endpoint.id % 40), 'type.' || (endpoint.id % 40), endpoint.id
from holdfast_internal.endpoints as endpoint where endpoint.name like 'endpoint-%';
insert into holdfast_internal.breakers (lane_id, state, failures, opened_at, probe_at)
select id, case when id % 200 = 0 then 'open' else 'closed' end, case when id % 200 = 0 then 7 else 0 end,
       case when id % 200 = 0 then now() - interval '1 hour' end, case when id % 200 = 0 then now() + interval '1 minute' end
from holdfast_internal.endpoints where name like 'endpoint-%';
insert into holdfast_internal.lane_stats (lane_id, pending, in_flight, oldest_due_at)
select id, case when id % 10 < 3 then 100 else 0 end, 0, now() - interval '1 hour' from holdfast_internal.endpoints where name like 'endpoint-%';
insert into holdfast_internal.queues (name) select format('queue-%s', lpad(q::text, 2, '0')) from generate_series(0, 19) as q;
insert into holdfast_internal.jobs (name, queue_id)
select format('job-%s', lpad(j::text, 2, '0')), (select id from holdfast_internal.queues where name = format('queue-%s', lpad((j / 2)::text, 2, '0')))
from generate_series(0, 39) as j;
insert into holdfast_internal.workers (incarnation, name, version, host, pid, lanes, concurrency, lease_ms, beat_at)
select 1000000 + w, 'worker-' || w, '0', 'host', w, array(select id from holdfast_internal.queues), 10, 15000, now() + interval '1 day'
from generate_series(1, 20) as w;
insert into holdfast_internal.audit_log (at, actor, action, subject)
select now() - interval '30 days' * (1 - i::double precision / {audit}), 'person-' || i % 30,
       (array['endpoint.updated', 'endpoint.paused', 'circuit.opened', 'circuit.closed', 'dead_letter.resolved'])[1 + i % 5],
       'endpoint:' || format('endpoint-%s', lpad((i % {endpoints})::text, 5, '0'))
from generate_series(1, {audit}) as i;
insert into holdfast_internal.circuit_changes (at, lane_id, from_state, to_state, version, actor)
select now() - interval '30 days' * (1 - i::double precision / {audit}), (select min(id) from holdfast_internal.endpoints where name like 'endpoint-%') + i % {endpoints},
       case when i % 2 = 0 then 'closed' else 'half_open' end, case when i % 2 = 0 then 'open' else 'closed' end, i, 'node:1'
from generate_series(1, {audit}) as i;
insert into holdfast_internal.alerts (rule, kind, severity, subject, state, value, threshold, since, fired_at, resolved_at)
select 'rule-' || i % 10, 'backlog_age', 'warning', 'subject-' || i, case when i % 50 = 0 then 'firing' else 'resolved' end, 1, 1, now(), now(),
       case when i % 50 <> 0 then now() end
from generate_series(1, 5000) as i;
insert into holdfast_internal.operations (id, kind, filter, as_of, as_of_at, state, total, done, created_by, finished_at)
select {firstId} + i * {step}, 'redrive', '{"endpoint": "endpoint-00001"}', pg_current_snapshot(), now(), 'succeeded', 100, 100, 'person', now()
from generate_series(1, 1000) as i;
insert into holdfast_internal.api_keys (id, name, role, secret_hash, created_by)
select 'key-' || i, 'key-' || i, 'viewer', '\x00', 'person' from generate_series(1, 200) as i;

-- part: messages
insert into holdfast_internal.messages (id, created_at, criticality, is_unrouted, size, type, tenant, correlation_id, body)
select {firstId} + i * {step}, holdfast_internal.time_of_id({firstId} + i * {step}), case when i % 100 = 0 then 2 else 1 end, i % 1000 = 0, 200,
       case when i % 100000 = 1 then 'rare.event' else 'type.' || i % 40 end, case when i % 7 = 0 then 'tenant-' || i % 1000 end,
       'correlation-' || i / 10, json_build_object('order', i, 'text', repeat('x', 150))
from generate_series(1, {events}) as i;

-- part: run messages
insert into holdfast_internal.messages (id, created_at, size, is_run, type, body)
select id, holdfast_internal.time_of_id(id), 100, true, format('job-%s', lpad((case when i % 4 < 2 then i % 2 else i % 40 end)::text, 2, '0')),
       json_build_object('run', i)
from (
  select i, {firstId} + i * {step} + 2048 as id from generate_series(1, {events}) as i
  union all select i, {firstId} + i * {step} + 3072 from generate_series(5, {events}, 5) as i
) as every;

-- part: owed
insert into holdfast_internal.deliveries (id, message_id, lane_id, route_id, attempt, size, criticality, due_at)
select {firstId} + i * {step} + 6, {firstId} + i * {step}, {firstLane} + case when i % 2 = 0 then 2 else i % greatest({endpoints} / 10, 3) end,
       null, case when i % 10 = 5 then 1 else 0 end, 200, case when i % 100 = 0 then 2 else 1 end, case when i % 10 = 5 then now() + interval '1 day' end
from generate_series(1, {events}) as i;
insert into holdfast_internal.runs (id, lane_id, job_id, due_at)
select {firstId} + i * {step} + 3072, job.queue_id, job.id, case when i % 50 = 0 then now() + interval '1 day' end
from generate_series(5, {events}, 5) as i
join holdfast_internal.jobs as job on job.name = format('job-%s', lpad((case when i % 4 < 2 then i % 2 else i % 40 end)::text, 2, '0'));

-- part: dead letters
insert into holdfast_internal.dead_letters (
  id, delivery_id, message_id, lane_id, state, reason, outcome, status_code, error_code, error, criticality, priority, attempt, attempts,
  redriven_delivery_id, created_at, settled_at, settled_by, action
)
select {firstId} + i * {step} + 8, {firstId} + i * {step} + 7, {firstId} + i * {step},
       {firstLane} + case when i % 2 = 0 then 1 else i % greatest({endpoints} / 5, 3) end,
       state, 'retries_exhausted', 2, status, 'http_status', format('The endpoint answered %s: %s', status, word), case when i % 100 = 0 then 2 else 1 end, 0, 2, '[]'::jsonb,
       case when state = 'redriven' then {firstId} + i * {step} + 9 end, holdfast_internal.time_of_id({firstId} + i * {step} + 8),
       case when state <> 'open' then now() - interval '1 day' end, case when state <> 'open' then 'person' end,
       case state when 'redriven' then 'redrive' when 'resolved' then 'fixed' when 'discarded' then 'discard' end
from (
  select i, (array['redriven', 'resolved', 'discarded'])[greatest(0, i % 10 - 6)] as settled, (array[500, 502, 503, 504])[1 + i % 4]::smallint as status,
         (array['busy', 'bad gateway', 'out of memory', 'maintenance', 'no route'])[1 + i / 4 % 5] as word
  from generate_series(1, {events}) as i
) as every cross join lateral (select coalesce(settled, 'open') as state) as given
-- Of runs: one in a hundred has failed.
union all
select {firstId} + i * {step} + 2050, {firstId} + i * {step} + 2048, {firstId} + i * {step} + 2048, job.queue_id, 'open', 'retries_exhausted', 2, null, 'handler_failed',
       'The handler failed', 1, 0, 1, '[]'::jsonb, null, holdfast_internal.time_of_id({firstId} + i * {step} + 2050), null, null, null
from generate_series(1, {events}, 100) as i
join holdfast_internal.jobs as job on job.name = format('job-%s', lpad((case when i % 4 < 2 then i % 2 else i % 40 end)::text, 2, '0'));

-- part: attempts
insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, duration_ms, outcome, status_code, error_code, error)
select {firstId} + i * {step} + d, {firstId} + i * {step}, holdfast_internal.time_of_id({firstId} + i * {step}), attempt, 1,
       {firstLane} + case d when 0 then 0 when 7 then case when i % 2 = 0 then 1 else i % greatest({endpoints} / 5, 3) end
                      else (i * 5 + d * 37) % {endpoints} end,
       20, case when failed then 2 else 1 end, case when failed then 503 else 200 end, case when failed then 'http_status' end,
       case when failed then 'The endpoint answered 503' end
from generate_series({from}, {to}) as i
cross join (values (0, 1, false), (1, 1, true), (1, 2, false), (2, 1, false), (3, 1, false), (4, 1, false), (5, 1, false), (7, 1, true), (7, 2, true))
  as made (d, attempt, failed);
insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, duration_ms, outcome, error_code, error)
select {firstId} + i * {step} + 2048, {firstId} + i * {step} + 2048, holdfast_internal.time_of_id({firstId} + i * {step} + 2048), 1, 1, job.queue_id, 20,
       case i % 100 when 1 then 2 when 2 then 11 when 3 then 10 else 1 end, case i % 100 when 1 then 'handler_failed' end,
       case i % 100 when 1 then 'The handler failed' end
from generate_series({from}, {to}) as i
join holdfast_internal.jobs as job on job.name = format('job-%s', lpad((case when i % 4 < 2 then i % 2 else i % 40 end)::text, 2, '0'));

-- part: rollups
insert into holdfast_internal.rollups (lane_id, period, starts_at, attempts, successes, throttled, durations, answers)
select {firstLane} + k, period, date_trunc(unit, now(), 'UTC') - ago * ('1 ' || unit)::interval, 60, 55, 0, '{0,0,5,30,20,5}', '{"200": 55, "503": 5}'
from (values (1, 'minute', 59, greatest({endpoints} / 20, 1)), (2, 'hour', 47, {endpoints}), (3, 'day', 29, {endpoints} / 4)) as kept (period, unit, back, lanes)
cross join lateral generate_series(0, back) as ago cross join lateral generate_series(0, lanes - 1) as k;
