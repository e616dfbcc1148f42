-- Alerts: rules, what they see, incidents, and whom they are told to.

create table holdfast.alert_rules (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  kind text not null,
  severity text not null default 'warning' check (severity in ('warning', 'critical')),
  -- What it means depends on the kind: a count, a rate, a share, seconds.
  threshold double precision not null,
  hold_ms double precision not null default 60000,
  remind_ms double precision not null default 14400000,
  clear_ms double precision not null default 300000,
  -- The rule speaks at most once in so long; what fires meanwhile is told together.
  quiet_ms double precision not null default 60000,
  endpoint text,
  tag text,
  -- Null: all of them.
  channels text[],
  is_enabled boolean not null default true,
  silenced_until timestamptz,
  last_notice_at timestamptz,
  updated_at timestamptz not null default now(),
  check (endpoint is null or tag is null)
);

insert into holdfast.alert_rules (name, kind, severity, threshold) values
  ('dead-letters', 'dead_letters', 'warning', 100),
  ('dead-letter-rate', 'dead_letter_rate', 'warning', 10),
  ('failure-rate', 'failure_rate', 'warning', 0.5),
  ('persisting-critical', 'persisting_critical', 'critical', 100),
  ('rejecting', 'rejecting', 'critical', 0),
  ('circuit-open', 'circuit_open', 'warning', 300),
  ('backlog-age', 'backlog_age', 'warning', 900),
  ('endpoint-disabled', 'endpoint_disabled', 'warning', 0),
  ('job-disabled', 'job_disabled', 'warning', 0),
  ('node-lost', 'node_lost', 'warning', 0),
  ('worker-lost', 'worker_lost', 'warning', 0),
  ('partition-upkeep', 'partition_upkeep', 'critical', 2),
  ('maintenance-failing', 'maintenance_failing', 'warning', 3),
  ('disk-low', 'disk_low', 'critical', 0.1);

-- Where notices go. All but the log are endpoints of their own, so that a notice has retries, a circuit and a history like any message.
create table holdfast.alert_channels (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  kind text not null check (kind in ('webhook', 'slack', 'email', 'log')),
  endpoint text,
  is_enabled boolean not null default true,
  created_at timestamptz not null default now(),
  check ((kind = 'log') = (endpoint is null))
);
insert into holdfast.alert_channels (name, kind) values ('log', 'log');

create table holdfast.alerts (
  id bigint primary key default nextval('holdfast.ids'),
  rule text not null,
  kind text not null,
  severity text not null,
  -- The endpoint, node, task … or `all`.
  subject text not null,
  state text not null check (state in ('pending', 'firing', 'resolved')),
  value double precision not null,
  threshold double precision not null,
  since timestamptz not null,
  fired_at timestamptz,
  clear_since timestamptz,
  noticed_at timestamptz,
  resolved_at timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  note text,
  silenced_until timestamptz
) with (fillfactor = 70);
create unique index alerts_open on holdfast.alerts (rule, subject) where state <> 'resolved';
create index alerts_resolved on holdfast.alerts (resolved_at) where state = 'resolved';

create table holdfast.alert_notices (
  id bigint primary key default nextval('holdfast.ids'),
  at timestamptz not null default clock_timestamp(),
  channel text not null,
  title text not null,
  text text not null,
  -- The message that carries it; null when it could not even be handed in.
  message_id bigint,
  state text not null default 'sent' check (state in ('sent', 'delivered', 'logged')),
  error text
);
create index alert_notices_open on holdfast.alert_notices (id) where state = 'sent';

-- Whether a node or a worker has been lost is told by its burial.
create index audit_log_losses on holdfast.audit_log (at) where action in ('node.lost', 'worker.lost');

create function holdfast.in_scope(endpoint holdfast.endpoints, only_endpoint text, only_tag text) returns boolean
language sql immutable
return (only_endpoint is null or endpoint.name = only_endpoint) and (only_tag is null or only_tag = any (endpoint.tags));

-- What a rule of this kind finds above its threshold: of what, and how much.
create function holdfast.alert_findings(kind text, threshold double precision, only_endpoint text, only_tag text)
returns table (subject text, value double precision)
language plpgsql stable as $$
declare
  lanes integer[];
  scope text := coalesce(only_endpoint, 'tag ' || only_tag, 'all');
begin
  if only_endpoint is not null or only_tag is not null then
    lanes := array(select id from holdfast.endpoints as endpoint where holdfast.in_scope(endpoint, only_endpoint, only_tag));
  end if;
  case kind
  when 'dead_letters' then
    return query select scope, count(*)::double precision from holdfast.dead_letters
    where state = 'open' and (lanes is null or lane_id = any (lanes)) having count(*) > threshold;
  when 'dead_letter_rate' then
    -- Ids follow the clock: the letters of the last minute are the end of the primary key.
    return query select scope, count(*)::double precision from holdfast.dead_letters
    where id >= holdfast.id_at(clock_timestamp() - interval '1 minute') and (lanes is null or lane_id = any (lanes))
    having count(*) > threshold;
  when 'failure_rate' then
    -- One that was stopped has an alert of its own, and its rate can't change until it is started again.
    return query select endpoint.name, 1 - sum(rollup.successes)::double precision / sum(rollup.attempts - rollup.throttled)
    from holdfast.rollups as rollup join holdfast.endpoints as endpoint on endpoint.id = rollup.lane_id
    where rollup.period = 1 and rollup.starts_at > clock_timestamp() - interval '6 minutes' and (lanes is null or rollup.lane_id = any (lanes))
      and endpoint.state = 'active'
    group by endpoint.name
    having sum(rollup.attempts - rollup.throttled) >= 20
      and sum(rollup.successes) < sum(rollup.attempts - rollup.throttled) * (1 - threshold);
  when 'persisting_critical' then
    return query select scope, total::double precision from (
      select (
        select count(*) from holdfast.dead_letters
        where state = 'open' and criticality = 2 and (lanes is null or lane_id = any (lanes))
      ) + (
        select count(*) from (
          select from holdfast.deliveries
          where criticality = 2 and id < holdfast.id_at(clock_timestamp() - interval '1 hour')
            and coalesce(owed_at < clock_timestamp() - interval '1 hour', true) and (lanes is null or lane_id = any (lanes))
          limit 100000
        ) as overdue
      ) as total
    ) as persisting where total > threshold;
  when 'rejecting', 'endpoint_disabled' then
    return query select endpoint.name, extract(epoch from clock_timestamp() - endpoint.state_changed_at)::double precision
    from holdfast.endpoints as endpoint
    where endpoint.state = case kind when 'rejecting' then 'rejecting' else 'disabled' end
      and holdfast.in_scope(endpoint, only_endpoint, only_tag);
  when 'circuit_open' then
    return query select endpoint.name, extract(epoch from clock_timestamp() - breaker.opened_at)::double precision
    from holdfast.breakers as breaker join holdfast.endpoints as endpoint on endpoint.id = breaker.lane_id
    where breaker.state <> 'closed' and breaker.opened_at < clock_timestamp() - make_interval(secs => threshold)
      and holdfast.in_scope(endpoint, only_endpoint, only_tag);
  when 'backlog_age' then
    return query select waiting.name, extract(epoch from clock_timestamp() - waiting.since)::double precision
    from (
      select endpoint.name, holdfast.oldest_owed(endpoint.id) as since
      from holdfast.lane_stats as stats join holdfast.endpoints as endpoint on endpoint.id = stats.lane_id
      where stats.pending > 0 and endpoint.state = 'active' and holdfast.in_scope(endpoint, only_endpoint, only_tag)
      limit 2000
    ) as waiting
    where waiting.since < clock_timestamp() - make_interval(secs => threshold);
  when 'node_lost' then
    -- One that comes back under its name isn't lost; one that is gone for good is news for an hour.
    return query select detail ->> 'name', extract(epoch from clock_timestamp() - max(at))::double precision from holdfast.audit_log
    where action in ('node.lost', 'worker.lost') and action = 'node.lost' and at > clock_timestamp() - interval '1 hour'
      and not exists (select from holdfast.nodes as alive where alive.name = detail ->> 'name')
    group by 1;
  when 'worker_lost' then
    return query select coalesce(detail ->> 'name', audit_log.subject), extract(epoch from clock_timestamp() - max(at))::double precision
    from holdfast.audit_log
    where action in ('node.lost', 'worker.lost') and action = 'worker.lost' and at > clock_timestamp() - interval '1 hour'
      and not exists (select from holdfast.workers as alive where alive.name = detail ->> 'name')
    group by 1;
  when 'job_disabled' then
    return query select job.name, extract(epoch from clock_timestamp() - job.state_changed_at)::double precision
    from holdfast.jobs as job where job.state = 'disabled';
  when 'partition_upkeep' then
    return query select task.name, task.failures::double precision from holdfast.maintenance_tasks as task
    where task.name = 'partitions' and (
      task.failures >= threshold or coalesce(task.last_succeeded_at < clock_timestamp() - interval '6 hours', false)
    );
  when 'maintenance_failing' then
    return query select task.name, task.failures::double precision from holdfast.maintenance_tasks as task
    where task.name <> 'partitions' and task.failures >= threshold;
  when 'disk_low' then
    -- Only an operator knows how large the disk of a server elsewhere is. Nodes that share the disk report it themselves.
    return query select 'database', 1 - pg_database_size(current_database())::double precision / holdfast.setting_integer('disk_bytes')
    where pg_database_size(current_database()) > holdfast.setting_integer('disk_bytes') * (1 - threshold);
  else
    -- A kind of a newer version.
    return;
  end case;
end $$;

-- Hands a notice to its channel's endpoint and writes it down. Whatever is in the way (a full queue, an endpoint deleted by hand)
-- must not undo the alert itself: then it has no message, and the log tells it.
create function holdfast.send_notice(channel_name text, notice_title text, notice_text text, payload jsonb) returns bigint
language plpgsql as $$
declare
  target text := (select endpoint from holdfast.alert_channels where name = channel_name and is_enabled);
  message bigint;
  problem text;
begin
  begin
    select id into message from holdfast.accept_messages(target, array[payload::text], array[jsonb_build_object('type', 'holdfast.alert')]) as id;
  exception when others then
    problem := sqlerrm;
  end;
  insert into holdfast.alert_notices (channel, title, text, message_id, state, error)
  values (channel_name, notice_title, notice_text, message, case when message is null then 'logged' else 'sent' end, problem);
  return message;
end $$;

-- Looks after notices that were sent at least so long ago: what arrived is delivered; what is still owed, dead or called off is returned
-- once, to be told otherwise. Indexes: alert_notices_open, deliveries_pkey, dead_letters_delivery_id_key, attempts_pkey.
create function holdfast.follow_notices(patience_ms double precision) returns table (channel text, title text, text text, error text)
language sql as $$
  with sent as (
    select notice.id, (
      exists (select from holdfast.deliveries as owed where owed.id = notice.message_id)
      or exists (select from holdfast.dead_letters as letter where letter.delivery_id = notice.message_id and letter.state = 'open')
      or exists (select from holdfast.attempts as ended where ended.delivery_id = notice.message_id and ended.outcome >= 10)
    ) as is_stuck
    from holdfast.alert_notices as notice
    where notice.state = 'sent' and notice.at < clock_timestamp() - make_interval(secs => patience_ms / 1000)
    order by notice.id limit 1000
  ), followed as (
    update holdfast.alert_notices as notice set state = case when sent.is_stuck then 'logged' else 'delivered' end
    from sent where notice.id = sent.id
    returning notice.channel, notice.title, notice.text, sent.is_stuck
  )
  select followed.channel, followed.title, followed.text, 'not delivered yet' from followed where is_stuck
$$;

-- What became of the incidents: [{id?, rule, kind, severity, subject, state, value, threshold, sinceMs, firedAtMs, clearSinceMs,
-- noticedAtMs}]. A pending one that passed is forgotten.
create function holdfast.write_alerts(changes jsonb) returns void
language plpgsql as $$
begin
  delete from holdfast.alerts where id in (
    select (change ->> 'id')::bigint from jsonb_array_elements(changes) as change where change ->> 'state' = 'forgotten'
  );
  update holdfast.alerts as alert set
    state = change.state, value = change.value, threshold = change.threshold, severity = change.severity,
    fired_at = holdfast.time_of_ms(change."firedAtMs"), clear_since = holdfast.time_of_ms(change."clearSinceMs"),
    noticed_at = holdfast.time_of_ms(change."noticedAtMs"),
    resolved_at = case change.state when 'resolved' then clock_timestamp() end
  from holdfast.alert_changes(changes) as change
  where alert.id = change.id and change.state <> 'forgotten';
  insert into holdfast.alerts (rule, kind, severity, subject, state, value, threshold, since, fired_at, noticed_at)
  select change.rule, change.kind, change.severity, change.subject, change.state, change.value, change.threshold,
         holdfast.time_of_ms(change."sinceMs"), holdfast.time_of_ms(change."firedAtMs"), holdfast.time_of_ms(change."noticedAtMs")
  from holdfast.alert_changes(changes) as change
  where change.id is null
  on conflict do nothing;
end $$;

create function holdfast.time_of_ms(ms double precision) returns timestamptz
language sql immutable return to_timestamp(ms / 1000);

create function holdfast.alert_changes(changes jsonb)
returns table (
  id bigint, rule text, kind text, severity text, subject text, state text, value double precision, threshold double precision,
  "sinceMs" double precision, "firedAtMs" double precision, "clearSinceMs" double precision, "noticedAtMs" double precision
)
language sql immutable as $$
  select * from jsonb_to_recordset(changes) as change (
    id bigint, rule text, kind text, severity text, subject text, state text, value double precision, threshold double precision,
    "sinceMs" double precision, "firedAtMs" double precision, "clearSinceMs" double precision, "noticedAtMs" double precision
  )
$$;

-- Resolved alerts and old notices, a bounded number at a time.
create function holdfast.purge_alerts(keep_days integer, max_rows integer) returns integer
language plpgsql as $$
declare
  purged integer;
begin
  delete from holdfast.alerts where id in (
    select id from holdfast.alerts where state = 'resolved' and resolved_at < now() - make_interval(days => keep_days)
    order by resolved_at limit max_rows
  );
  get diagnostics purged = row_count;
  delete from holdfast.alert_notices where id in (
    select id from holdfast.alert_notices where id < holdfast.id_at(now() - make_interval(days => keep_days)) order by id limit max_rows
  );
  return purged;
end $$;

create function holdfast.acknowledge_alert(alert_id bigint, actor text, remark text) returns boolean
language plpgsql as $$
begin
  update holdfast.alerts set acknowledged_at = clock_timestamp(), acknowledged_by = actor, note = coalesce(remark, note)
  where id = alert_id and state <> 'resolved';
  if not found then
    return false;
  end if;
  perform holdfast.audit(actor, 'alert.acknowledged', 'alert:' || alert_id, jsonb_build_object('note', remark));
  return true;
end $$;

create function holdfast.silence_alert(alert_id bigint, until timestamptz, actor text, remark text) returns boolean
language plpgsql as $$
begin
  update holdfast.alerts set silenced_until = until, note = coalesce(remark, note) where id = alert_id and state <> 'resolved';
  if not found then
    return false;
  end if;
  perform holdfast.audit(actor, 'alert.silenced', 'alert:' || alert_id, jsonb_build_object('until', until, 'note', remark));
  return true;
end $$;
