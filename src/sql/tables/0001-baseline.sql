-- The tables. Functions, views and triggers are source: src/sql/functions. This file is never edited; a change of a table is the next numbered file.
-- Users see the schema holdfast only (functions and views that are promised); everything here may change with any release.

-- ── Site-wide settings

create table holdfast_internal.settings (
  name text primary key,
  value jsonb not null
);
insert into holdfast_internal.settings (name, value) values
  ('max_pending', '1000000'),
  ('max_payload_bytes', '1048576'),
  ('idempotency_window_ms', '86400000'),
  -- month, week or day
  ('partition_size', '"month"'),
  ('messages_retention_months', '6'),
  ('attempts_retention_months', '6'),
  ('dlq_retention_days', '30'),
  -- 0: what nobody has settled is kept for ever.
  ('unsettled_retention_days', '0');

-- ── Messages: bodies, written once

-- One sequence for every id, moved forward to follow the clock: (milliseconds since 2024) * 4096 + counter, below 2^53.
create sequence holdfast_internal.ids as bigint minvalue 1 start 1 no cycle;

create table holdfast_internal.messages (
  id bigint not null,
  created_at timestamptz not null default now(),
  criticality smallint not null default 1,
  -- Nobody wanted it when it was published.
  is_unrouted boolean not null default false,
  -- Its type has a schema that nobody has held it against yet.
  needs_check boolean not null default false,
  size integer not null,
  -- A job's input: no event, and nobody's to send.
  is_run boolean not null default false,
  type text,
  tenant text,
  correlation_id text,
  -- Its deliveries have it as long as they are owed; a replay takes it from here.
  ordering_key text,
  headers jsonb,
  metadata jsonb,
  body json not null,
  primary key (id)
) partition by range (id);
create table holdfast_internal.messages_default partition of holdfast_internal.messages default;
create index messages_unrouted on holdfast_internal.messages (id) where is_unrouted;

-- Bodies that outlive their partition, because a delivery or an unsettled dead letter still needs them.
create table holdfast_internal.messages_kept (like holdfast_internal.messages including all);
-- What an operator has in hand is the caller's own id. Only messages that have one pay for it.
create index messages_correlation on holdfast_internal.messages (correlation_id, id) where correlation_id is not null;
create index messages_kept_correlation on holdfast_internal.messages_kept (correlation_id, id) where correlation_id is not null;

-- ── Endpoints, their secrets and circuits

-- A lane is the line of work of one endpoint (or, later, one queue). Its shard is lane_id & 255.
create sequence holdfast_internal.lanes as integer minvalue 1;

create table holdfast_internal.endpoints (
  id integer primary key default nextval('holdfast_internal.lanes'),
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  transport text not null,
  tenant text,
  tags text[] not null default '{}',
  contact text,
  preset text not null default 'standard',
  config jsonb not null,
  settings jsonb not null,
  state text not null default 'active' check (state in ('active', 'paused', 'rejecting', 'disabled')),
  state_reason text,
  state_changed_at timestamptz not null default now(),
  reenable_at timestamptz,
  pauses jsonb not null default '[]',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Nodes read what changed since their last look: every row whose writer may have been running then. A counter would
  -- miss a writer that commits late.
  changed_xid xid8 not null default pg_current_xact_id()
);
create index endpoints_changed on holdfast_internal.endpoints (changed_xid);
create index endpoints_shard on holdfast_internal.endpoints ((id & 255));
create index endpoints_tenant on holdfast_internal.endpoints (tenant) where tenant is not null;
create index endpoints_reenable on holdfast_internal.endpoints (reenable_at) where reenable_at is not null;

-- Secrets of endpoints, encrypted before they get here: the database never sees one. `endpoints.config` has a mark in each
-- one's place. A secret that was replaced stays beside its successor until it expires, so that receivers can change over.
create table holdfast_internal.endpoint_secrets (
  lane_id integer not null references holdfast_internal.endpoints (id) on delete cascade,
  -- Where in the config it belongs: `signing.secret`. With lane_id it is authenticated: sealed bytes open at their own place only.
  field text not null,
  -- The highest is the present one.
  version integer not null,
  key_id text not null,
  sealed bytea not null,
  set_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  primary key (lane_id, field, version)
);
create index endpoint_secrets_key on holdfast_internal.endpoint_secrets (key_id, lane_id, field, version);
create index endpoint_secrets_expiry on holdfast_internal.endpoint_secrets (expires_at) where expires_at is not null;

-- The authority over an endpoint's circuit, for deliveries and synchronous requests alike. `version` counts transitions.
create table holdfast_internal.breakers (
  lane_id integer primary key,
  version bigint not null default 1,
  state text not null default 'closed' check (state in ('closed', 'open', 'half_open')),
  failures integer not null default 0,
  -- The messages refused in a row, at most twenty; kept as ids, so that one message redriven twenty times counts once.
  permanents bigint[] not null default '{}',
  streak integer not null default 0,
  streak_started_at timestamptz,
  opened_at timestamptz,
  probe_at timestamptz,
  probe_token text,
  probe_expires_at timestamptz,
  held_until timestamptz,
  hold_reason text,
  changed_xid xid8 not null default pg_current_xact_id()
) with (fillfactor = 70);
create index breakers_changed on holdfast_internal.breakers (changed_xid);

-- ── Event types and routes

create table holdfast_internal.event_types (
  name text primary key check (length(name) <= 255 and name ~ '^[A-Za-z0-9_][A-Za-z0-9_-]*([.][A-Za-z0-9_-]+)*$'),
  description text,
  schema jsonb,
  criticality smallint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  changed_xid xid8 not null default pg_current_xact_id()
);
create index event_types_changed on holdfast_internal.event_types (changed_xid);

create table holdfast_internal.routes (
  id integer primary key generated always as identity,
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._:-]{0,126}$'),
  tenant text,
  event_type text not null,
  -- The pattern, compiled when the route is written: equality, or LIKE (with the number of segments where `*` stands for one), or, for
  -- patterns that mix `*` and `**`, a regular expression. PostgreSQL keeps 32 compiled expressions; a hundred would be compiled at
  -- every publish.
  exact_type text,
  like_pattern text,
  segments integer,
  regex text,
  filter jsonpath,
  filter_text text,
  transform jsonb,
  lane_id integer not null references holdfast_internal.endpoints (id),
  criticality smallint,
  enabled boolean not null default true,
  -- Made from the endpoint's `eventTypes`; changes with them.
  is_shorthand boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  changed_xid xid8 not null default pg_current_xact_id(),
  check (num_nonnulls(exact_type, like_pattern, regex) = 1)
);
create index routes_exact on holdfast_internal.routes (coalesce(tenant, ''), exact_type) where enabled and exact_type is not null;
create index routes_pattern on holdfast_internal.routes (coalesce(tenant, '')) where enabled and exact_type is null;
create index routes_lane on holdfast_internal.routes (lane_id);
create index routes_changed on holdfast_internal.routes (changed_xid);

-- ── Deliveries: only what is still owed

create table holdfast_internal.deliveries (
  id bigint primary key,
  message_id bigint not null,
  lane_id integer not null,
  route_id integer,
  attempt integer not null default 0,
  uncounted integer not null default 0,
  size integer not null,
  priority smallint not null default 0 check (priority between 0 and 3),
  criticality smallint not null default 1,
  -- Tells apart what one message owes to one endpoint by several routes; part of the id that receivers dedupe on.
  variant smallint not null default 0,
  due_at timestamptz,
  expires_at timestamptz,
  owed_at timestamptz,
  dead_letter_id bigint,
  -- The number that receivers know a replay by, instead of its message's.
  replay_id bigint,
  ordering_key text
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create index deliveries_ready on holdfast_internal.deliveries (lane_id, priority, id);
create index deliveries_scheduled on holdfast_internal.deliveries (lane_id, due_at) where due_at is not null;
-- The key comes first: an index that begins with the lane, too, would seem as good to a planner without statistics, and sort the
-- whole lane for each look-up (1 ms instead of 0.02 ms a row at 3,000 waiting).
create index deliveries_keyed on holdfast_internal.deliveries (ordering_key, lane_id, id) where ordering_key is not null;
create index deliveries_expiring on holdfast_internal.deliveries (lane_id, expires_at) where expires_at is not null;
-- A message's first delivery has the message's own number, so that only fan-out needs an index to be found.
create index deliveries_message on holdfast_internal.deliveries (message_id) where message_id <> id;
create index deliveries_critical on holdfast_internal.deliveries (lane_id, id) where criticality = 2;

create table holdfast_internal.idempotency_keys (
  scope text not null,
  key text not null,
  body_hash text not null,
  result jsonb not null,
  expires_at timestamptz not null,
  primary key (scope, key)
);
create index idempotency_keys_expiry on holdfast_internal.idempotency_keys (expires_at);
-- Unique keys that are held until their run has ended, for whoever clears them away.
create index idempotency_keys_held on holdfast_internal.idempotency_keys (((result ->> 0)::bigint)) where expires_at = 'infinity';

-- ── Attempts: the append-only record of every try; a success row is also the final record of its delivery

create table holdfast_internal.attempts (
  delivery_id bigint not null,
  message_id bigint not null,
  started_at timestamptz not null,
  attempt integer not null,
  incarnation integer not null,
  lane_id integer not null,
  route_id integer,
  duration_ms integer,
  outcome smallint not null,
  status_code smallint,
  is_probe boolean not null default false,
  error_code text,
  error text,
  detail jsonb,
  primary key (delivery_id, attempt, incarnation)
) partition by range (delivery_id);
create table holdfast_internal.attempts_default partition of holdfast_internal.attempts default;
create index attempts_message on holdfast_internal.attempts (message_id) where message_id <> delivery_id;
create index attempts_lane on holdfast_internal.attempts (lane_id, delivery_id);
-- Endings other than success and failures are few, and people look for them; successes pay for neither index.
create index attempts_ended on holdfast_internal.attempts (outcome, delivery_id) where outcome >= 10;
create index attempts_failed on holdfast_internal.attempts (lane_id, delivery_id) where outcome <> 1;

-- ── Dead letters
-- The states of a letter, and what leads from one to the other; every update names the state that it expects:
--   open ──redrive──► redriven ──delivered──► redriven, settled
--     ▲                  └──died again, or called off──► open
--     ├──resolve──► resolved      ├──discard──► discarded
--     └── a late success of the delivery itself resolves an open or redriven letter.
--
-- These two functions stand here and not in functions/ because a stored column is computed by them: changing one changes the table.

-- What is the same in errors that differ only by what they happened to: urls, hosts, addresses, ids and numbers are one word each.
-- 37 µs for a typical text, paid at burial: on read it would be paid for every open letter at every look (3.7 s for 100,000).
create function holdfast_internal.normalise_error(error text) returns text
language sql immutable parallel safe
return (
  regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    left(error, 500),
    '\m[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"''<>)]+', '<url>', 'g'),
    '\m[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\M', '<id>', 'g'),
    '\m(msg|dlv|dlt|run|atm|op)_[0-9a-z]{11}(\.[0-9]+)?\M', '<id>', 'g'),
    '(\[[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\]|\m[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{0,4}){3,7}\M|::1\M|\m[0-9]{1,3}(\.[0-9]{1,3}){3}\M|\mlocalhost\M)', '<host>', 'g'),
    '\m[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*\.[a-zA-Z]{2,}\M', '<host>', 'g'),
    '\m(?=[0-9a-zA-Z_-]*[0-9])(?=[0-9a-zA-Z_-]*[a-zA-Z])[0-9a-zA-Z_-]{8,}\M', '<id>', 'g'),
    '[0-9]+', '<n>', 'g')
);

create function holdfast_internal.error_fingerprint(reason text, status_code smallint, error_code text, error text) returns text
language sql immutable parallel safe
return substr(md5(concat_ws(E'\n', reason, coalesce(status_code, 0), coalesce(error_code, ''), holdfast_internal.normalise_error(coalesce(error, '')))), 1, 16);

create table holdfast_internal.dead_letters (
  id bigint primary key,
  delivery_id bigint not null unique,
  message_id bigint not null,
  lane_id integer not null,
  route_id integer,
  state text not null default 'open' check (state in ('open', 'redriven', 'resolved', 'discarded')),
  reason text not null,
  outcome smallint not null,
  status_code smallint,
  error_code text,
  error text,
  criticality smallint not null,
  priority smallint not null,
  variant smallint not null default 0,
  attempt integer not null,
  attempts jsonb not null,
  request jsonb,
  ordering_key text,
  -- Of a run: what it was enqueued with, so that a redrive goes the same way.
  concurrency_key text,
  target text,
  ttl_ms double precision,
  blocks_key boolean not null default false,
  redrives integer not null default 0,
  redriven_delivery_id bigint,
  replay_id bigint,
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  settled_by text,
  note text,
  action text,
  fingerprint text generated always as (holdfast_internal.error_fingerprint(reason, status_code, error_code, error)) stored,
  -- Whether a bulk action may touch it: only what stood like this when its filter was looked at.
  changed_xid xid8 not null default pg_current_xact_id(),
  -- How often it was sent again by schedule, because it is critical.
  resends integer not null default 0,
  resent_at timestamptz
);
create index dead_letters_lane on holdfast_internal.dead_letters (lane_id, state, id);
create index dead_letters_message on holdfast_internal.dead_letters (message_id);
create index dead_letters_blocking on holdfast_internal.dead_letters (ordering_key, lane_id, delivery_id)
  where blocks_key and settled_at is null;
-- Redrives under way.
create index dead_letters_underway on holdfast_internal.dead_letters (id) where state = 'redriven' and settled_at is null;
create index dead_letters_redriven on holdfast_internal.dead_letters (redriven_delivery_id) where redriven_delivery_id is not null;
create index dead_letters_state on holdfast_internal.dead_letters (state, id);
create index dead_letters_open on holdfast_internal.dead_letters (delivery_id) where state = 'open';
create index dead_letters_fingerprint on holdfast_internal.dead_letters (fingerprint, id);
create index dead_letters_lane_id on holdfast_internal.dead_letters (lane_id, id);
create index dead_letters_lane_delivery on holdfast_internal.dead_letters (lane_id, delivery_id);
create index dead_letters_settled on holdfast_internal.dead_letters (settled_at) where settled_at is not null;
-- Criticality. What is critical persists while it is dead and unsettled, or owed for longer than an hour.
create index dead_letters_critical on holdfast_internal.dead_letters (lane_id, id) where criticality = 2 and settled_at is null;

-- ── Replays and retention

-- Which deliveries are replays: one row for each step of an operation. A replay's id is also the number that receivers know it by. Ids that
-- are drawn together are neighbours, so that two thousand of them are a range or a few; a row for each would cost as much as the delivery.
create table holdfast_internal.replays (
  ids int8multirange not null,
  operation_id bigint,
  created_at timestamptz not null default now()
);
create index replays_ids on holdfast_internal.replays using gist (ids);
create index replays_age on holdfast_internal.replays (created_at);

-- Partitions that are about to go. Whoever is about to need a body asks here, under a lock that the marking waits for.
create table holdfast_internal.retiring_partitions (
  name text primary key,
  parent text not null,
  from_id bigint not null,
  to_id bigint not null,
  marked_at timestamptz not null default now()
);

-- ── Nodes and their shards

-- Nodes and their shards.
create sequence holdfast_internal.incarnations as integer minvalue 1;

create table holdfast_internal.nodes (
  incarnation integer primary key,
  name text not null,
  version text not null,
  beat bigint not null default 0,
  is_asleep boolean not null default false,
  is_stopping boolean not null default false,
  pending bigint not null default 0,
  settled_batch bigint not null default 0,
  started_at timestamptz not null default now(),
  beat_at timestamptz not null default now()
) with (fillfactor = 50);

create table holdfast_internal.shard_leases (
  shard smallint primary key check (shard between 0 and 255),
  incarnation integer,
  epoch bigint not null default 0,
  -- Set when the last owner died with work in flight; the next owner starts this shard's lanes in careful mode.
  is_suspect boolean not null default false
) with (fillfactor = 50);
insert into holdfast_internal.shard_leases (shard) select generate_series(0, 255);

-- Deliveries that a careful node wrote down before it dispatched them.
create table holdfast_internal.suspects (
  delivery_id bigint primary key,
  lane_id integer not null,
  incarnation integer,
  crashes integer not null
);
create index suspects_lane on holdfast_internal.suspects (lane_id);

-- What owners last reported of their lanes, at most a second old. Publishing reads it and writes no counter.
create table holdfast_internal.lane_stats (
  lane_id integer primary key,
  pending bigint not null default 0,
  in_flight integer not null default 0,
  oldest_due_at timestamptz,
  reported_at timestamptz not null default now()
) with (fillfactor = 50);

create table holdfast_internal.quarantine (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  delivery_id bigint not null,
  lane_id integer not null,
  incarnation integer not null,
  record jsonb not null,
  error text not null
);

-- What nodes must hear of though no row shows it. NOTIFY tells those that listen at once; the others read it here with their next beat.
create table holdfast_internal.notices (
  id bigint primary key generated always as identity,
  channel text not null,
  payload text not null,
  at timestamptz not null default now(),
  changed_xid xid8 not null default pg_current_xact_id()
);
create index notices_changed on holdfast_internal.notices (changed_xid, id);

-- ── Bulk actions that run in the background: a row with a filter and a moment, carried out in bounded steps
-- Nobody owns an operation. A step is one transaction that locks the row, does some of the work and moves the cursor, so that any node can do
-- the next one, a node that dies half-way has done nothing, and no lease, takeover or fence is needed.
--
--   running ──► succeeded          running ──► failed (too many steps in a row failed; resume tries again)
--   running ◄──► paused            running, paused ──► cancelled (what is done stays done)

create table holdfast_internal.operations (
  id bigint primary key default nextval('holdfast_internal.ids'),
  kind text not null check (kind in ('redrive', 'resolve', 'discard', 'replay', 'retry', 'cancel')),
  filter jsonb not null,
  -- What the action needs to know besides: note, action, targetEndpoint, targetRoute.
  options jsonb not null default '{}',
  -- What was visible when the filter was looked at. What has changed since is left alone.
  as_of pg_snapshot not null,
  as_of_at timestamptz not null,
  state text not null default 'running' check (state in ('running', 'paused', 'succeeded', 'failed', 'cancelled')),
  total bigint not null,
  done bigint not null default 0,
  skipped bigint not null default 0,
  rate_per_second double precision,
  -- The last delivery (or message) that a step looked at.
  cursor bigint not null default 0,
  next_step_at timestamptz not null default now(),
  -- Why it stands still, when it does by itself.
  waiting text,
  node text,
  failures integer not null default 0,
  error text,
  created_by text not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
) with (fillfactor = 50);
create index operations_due on holdfast_internal.operations (next_step_at) where state = 'running';

-- ── API access

-- A key is `hf_<id>_<secret>`. The secret has 256 random bits, so that a plain hash of it can't be guessed backwards.
create table holdfast_internal.api_keys (
  id text primary key,
  name text not null,
  role text not null check (role in ('viewer', 'publisher', 'operator', 'admin')),
  secret_hash bytea not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create unique index api_keys_name on holdfast_internal.api_keys (name) where revoked_at is null;

-- Links that sign somebody in once.
create table holdfast_internal.sign_in_links (
  token_hash bytea primary key,
  expires_at timestamptz not null
);

-- People who signed in with a key or a link; only hashes of what their browsers hold.
create table holdfast_internal.api_sessions (
  token_hash bytea primary key,
  -- Null: signed in by a link or with the key of the environment.
  key_id text references holdfast_internal.api_keys (id),
  name text not null,
  role text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index api_sessions_expiry on holdfast_internal.api_sessions (expires_at);

-- What a write answered, by who wrote and their idempotency key; stored in the write's own transaction.
create table holdfast_internal.api_results (
  owner text not null,
  key text not null,
  request_hash bytea not null,
  status smallint not null,
  body text,
  expires_at timestamptz not null,
  primary key (owner, key)
);
create index api_results_expiry on holdfast_internal.api_results (expires_at);

-- ── Audit log

create table holdfast_internal.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  subject text not null,
  detail jsonb not null default '{}'
);
create index audit_log_subject on holdfast_internal.audit_log (subject, id);
create index audit_log_action on holdfast_internal.audit_log (action, id);
create index audit_log_actor on holdfast_internal.audit_log (actor, id);
-- Whether a node or a worker has been lost is told by its burial.
create index audit_log_losses on holdfast_internal.audit_log (at) where action in ('node.lost', 'worker.lost');

-- ── Maintenance: what one node at a time does for all of them, and how it went
-- The owner of shard 0 leads. Its term is a counter of its own: a fenced transaction holds the leader's lock shared while it works,
-- a new term needs it exclusively. Takeover of the shards themselves never waits for maintenance.

create table holdfast_internal.leadership (
  is_only boolean primary key default true check (is_only),
  term bigint not null default 0,
  incarnation integer,
  node text,
  since timestamptz
);
insert into holdfast_internal.leadership default values;

create table holdfast_internal.maintenance_tasks (
  name text primary key,
  -- {everyMs} or {cron, timezone}
  schedule jsonb not null,
  next_run_at timestamptz not null,
  -- When a person asked for a run.
  requested_at timestamptz,
  running_since timestamptz,
  term bigint,
  node text,
  last_started_at timestamptz,
  last_duration_ms integer,
  last_succeeded_at timestamptz,
  last_failed_at timestamptz,
  last_error text,
  -- In a row.
  failures integer not null default 0,
  summary jsonb
) with (fillfactor = 50);

-- ── Statistics

-- Statistics: attempts added up per endpoint, so that they outlive the partitions of the attempts themselves. Owners count in memory
-- and add what they counted every few seconds. `period`: 1 a minute (kept for a day), 2 an hour (for 35 days), 3 a day (for 400).
create table holdfast_internal.rollups (
  lane_id integer not null,
  period smallint not null check (period between 1 and 3),
  starts_at timestamptz not null,
  attempts bigint not null,
  successes bigint not null,
  throttled bigint not null,
  -- How many attempts took how long, by the buckets of src/core/duration-buckets.ts; what is missing at the end is zero.
  durations integer[] not null,
  -- {"200": 12, "timeout": 3}
  answers jsonb not null,
  primary key (lane_id, period, starts_at)
) with (fillfactor = 70);
create index rollups_age on holdfast_internal.rollups (period, starts_at);

-- The last flush that each node has added, so that one whose answer got lost isn't added twice.
create table holdfast_internal.rollup_flushes (
  incarnation integer primary key,
  flush bigint not null
) with (fillfactor = 50);

-- ── Alerts

create table holdfast_internal.alert_rules (
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
insert into holdfast_internal.alert_rules (name, kind, severity, threshold) values
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
create table holdfast_internal.alert_channels (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  kind text not null check (kind in ('webhook', 'slack', 'email', 'log')),
  endpoint text,
  is_enabled boolean not null default true,
  created_at timestamptz not null default now(),
  check ((kind = 'log') = (endpoint is null))
);
insert into holdfast_internal.alert_channels (name, kind) values ('log', 'log');

create table holdfast_internal.alerts (
  id bigint primary key default nextval('holdfast_internal.ids'),
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
create unique index alerts_open on holdfast_internal.alerts (rule, subject) where state <> 'resolved';
create index alerts_resolved on holdfast_internal.alerts (resolved_at) where state = 'resolved';

create table holdfast_internal.alert_notices (
  id bigint primary key default nextval('holdfast_internal.ids'),
  at timestamptz not null default clock_timestamp(),
  channel text not null,
  title text not null,
  text text not null,
  -- The message that carries it; null when it could not even be handed in.
  message_id bigint,
  state text not null default 'sent' check (state in ('sent', 'delivered', 'logged')),
  error text
);
create index alert_notices_open on holdfast_internal.alert_notices (id) where state = 'sent';

-- ── Queues, jobs, workers, schedules

create table holdfast_internal.queues (
  id integer primary key default nextval('holdfast_internal.lanes'),
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  -- Runs at once over all workers; null: as many as the workers have slots.
  concurrency integer check (concurrency between 1 and 100000),
  rate_per_second double precision check (rate_per_second > 0),
  state text not null default 'active' check (state in ('active', 'paused')),
  state_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- What code says are `defaults`; what a person sets over the API are `overrides`, and win field by field.
create table holdfast_internal.jobs (
  id integer generated always as identity primary key,
  name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,126}$'),
  queue_id integer not null references holdfast_internal.queues (id),
  -- Where it was before: runs may still wait there, and its workers take from there, too.
  former_queue_ids integer[] not null default '{}',
  -- When it was moved last, and by which transaction; see forget_former_queues.
  moved_at timestamptz,
  moved_by xid8,
  -- Active again: what claims had set aside of it comes back step by step, and has got to this run. Null: all of it has.
  unpark_from bigint,
  defaults jsonb not null default '{}',
  overrides jsonb not null default '{}',
  settings jsonb not null generated always as (defaults || overrides) stored,
  state text not null default 'active' check (state in ('active', 'paused', 'disabled')),
  state_reason text,
  state_changed_at timestamptz not null default now(),
  reenable_at timestamptz,
  -- Failed runs in a row, for auto-disable.
  streak integer not null default 0,
  streak_started_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 70);
create index jobs_reenable on holdfast_internal.jobs (reenable_at) where reenable_at is not null;
create index jobs_queue on holdfast_internal.jobs (queue_id);
create index jobs_unparking on holdfast_internal.jobs (id) where unpark_from is not null;
create index jobs_inactive on holdfast_internal.jobs (queue_id) where state <> 'active';

-- Workers. One heartbeat each; the lease of everything a worker has claimed is its row here.
create table holdfast_internal.workers (
  incarnation integer primary key,
  name text not null,
  version text not null,
  host text not null,
  pid integer not null,
  lanes integer[] not null,
  tags text[] not null default '{}',
  concurrency integer not null,
  lease_ms integer not null,
  beat bigint not null default 0,
  is_asleep boolean not null default false,
  state text not null default 'active' check (state in ('active', 'draining', 'stopping')),
  running integer not null default 0,
  -- Claims with a lower number are refused: the worker has given up waiting for their answer.
  min_request bigint not null default 0,
  started_at timestamptz not null default now(),
  beat_at timestamptz not null default now()
) with (fillfactor = 50);

create table holdfast_internal.run_cancellations (
  run_id bigint primary key,
  worker integer not null,
  reason text,
  requested_at timestamptz not null default now()
);
create index run_cancellations_worker on holdfast_internal.run_cancellations (worker);

-- Schedules. `next_at` is the authority: who moves it on, from exactly the time he read, fires it.
create table holdfast_internal.schedules (
  id integer generated always as identity primary key,
  name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,126}$'),
  job_id integer not null references holdfast_internal.jobs (id),
  cron text,
  timezone text not null default 'UTC',
  every_ms bigint check (every_ms >= 1000),
  run_at timestamptz,
  payload json not null default 'null',
  options jsonb,
  overlap text not null default 'skip' check (overlap in ('skip', 'queue', 'allow')),
  catch_up text not null default 'one' check (catch_up in ('one', 'all', 'none')),
  is_paused boolean not null default false,
  pause_reason text,
  next_at timestamptz,
  last_at timestamptz,
  last_run_id bigint,
  fired bigint not null default 0,
  skipped bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(cron, every_ms, run_at) = 1)
) with (fillfactor = 70);
create index schedules_due on holdfast_internal.schedules (next_at) where next_at is not null and not is_paused;
create index schedules_job on holdfast_internal.schedules (job_id);

-- Rounds that one of all processes makes: whoever moves the time on.
create table holdfast_internal.keeper_rounds (
  name text primary key,
  next_at timestamptz not null,
  -- Where a look that is too long for one round goes on, by the number of a run.
  position bigint not null default 0
) with (fillfactor = 50);

-- ── Runs: what a queue owes
-- docs/decisions/0010-jobs.md tells why a claim writes one row and not one per run, 0016-bundles.md why most plain runs have no row of their
-- own here.
--
-- A run waits in one of two lines. FRESH (due_at is null): plain runs, never touched; a cursor per priority passes them in order of
-- id, and whatever it has passed belongs to the claim that lists it. DUE (due_at is set): everything that waits for a time, a key, a worker, or
-- a second try; each is claimed by name, in claim_id. `infinity` = parked: something else brings it back.

create table holdfast_internal.runs (
  id bigint primary key,
  -- The transaction that stored it, because it may commit after the cursor has passed.
  published_by xid8 not null default pg_current_xact_id(),
  lane_id integer not null,
  job_id integer not null,
  attempt integer not null default 0,
  crashes smallint not null default 0,
  priority smallint not null default 0 check (priority between 0 and 3),
  criticality smallint not null default 1,
  -- Null: the message has the run's own number.
  message_id bigint,
  claim_id bigint,
  due_at timestamptz,
  expires_at timestamptz,
  ttl_at timestamptz,
  -- How long it may wait for a worker each time it comes back; null: as its job says.
  ttl_ms double precision,
  dead_letter_id bigint,
  ordering_key text,
  concurrency_key text,
  -- `worker:<name>` or `tags:<a,b>`: who alone may claim it.
  target text
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create index runs_fresh on holdfast_internal.runs (lane_id, priority, id) where due_at is null;
create index runs_due on holdfast_internal.runs (lane_id, priority, due_at) where due_at is not null and target is null and crashes = 0;
-- Those that were there at a crash wait in a line of their own: they go few at a time, and must hold nobody back.
create index runs_suspect on holdfast_internal.runs (lane_id, priority desc, due_at) where due_at is not null and crashes > 0;
create index runs_targeted on holdfast_internal.runs (lane_id, target, due_at) where target is not null;
create index runs_ordered on holdfast_internal.runs (ordering_key, lane_id, id) where ordering_key is not null;
create index runs_ordered_out on holdfast_internal.runs (ordering_key, lane_id) where ordering_key is not null and claim_id is not null;
create index runs_concurrent on holdfast_internal.runs (concurrency_key, lane_id, claim_id, id) where concurrency_key is not null;
create index runs_expiring on holdfast_internal.runs (expires_at) where expires_at is not null;
create index runs_ttl on holdfast_internal.runs (ttl_at) where ttl_at is not null;
create index runs_parked on holdfast_internal.runs (id) where due_at = 'infinity' and claim_id is null;

-- Plain runs that were enqueued together and have neighbouring numbers: one row for all of them, written once, read under the cursor like fresh ones,
-- and gone when it has passed the last. Whatever is peculiar about one of them later (a failure, a cancellation, a crash) makes it a row of `runs`.
create table holdfast_internal.run_bundles (
  lane_id integer not null,
  priority smallint not null check (priority between 0 and 3),
  last_id bigint not null unique,
  first_id bigint not null,
  job_id integer not null,
  published_by xid8 not null,
  primary key (lane_id, priority, last_id)
);

create sequence holdfast_internal.run_claims_seq as bigint;

create table holdfast_internal.run_claims (
  id bigint primary key,
  lane_id integer not null,
  worker integer not null,
  -- The worker's own number for the call that made it.
  request bigint not null default 0,
  claimed_at timestamptz not null default clock_timestamp(),
  run_ids bigint[] not null,
  -- Those of bundles, as long as they are neither settled nor rows of `runs`.
  bundled int8multirange not null default '{}'
);
create index run_claims_worker on holdfast_internal.run_claims (worker);
create index run_claims_lane on holdfast_internal.run_claims (lane_id);

-- Where the claims of a queue have got to. Appended to, the newest row counts, the one before is deleted: an updated row would
-- grow a chain of dead versions beside an open transaction, and every claim would walk it.
create table holdfast_internal.queue_cursors (
  lane_id integer not null,
  seq bigint not null,
  -- By priority, 0 first: the last fresh run that was passed, and the time before which nothing due waits.
  cursors bigint[] not null,
  floors timestamptz[] not null,
  -- Where the id sequence stood before this claim looked.
  horizon bigint not null,
  -- Transactions that were running when this claim looked: what they store may lie behind the cursor. Above which id, and which floor stood then.
  gap_xids xid8[] not null,
  gap_ids bigint[] not null,
  gap_floors timestamptz[] not null,
  tokens double precision,
  tokens_at timestamptz,
  primary key (lane_id, seq)
);

-- Progress and log lines of runs that are still at it; what is final goes into the attempt.
create table holdfast_internal.run_progress (
  run_id bigint primary key,
  attempt integer not null,
  worker integer not null,
  progress jsonb,
  logs jsonb not null default '[]',
  updated_at timestamptz not null default now()
) with (fillfactor = 50);
