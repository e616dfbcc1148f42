-- The tables. Bodies are written once into `messages`; `deliveries` holds only what is still owed and stays narrow;
-- `attempts` is the append-only record of every try, and a success row there is also the delivery's final record.

create table holdfast.settings (
  name text primary key,
  value jsonb not null
);
insert into holdfast.settings (name, value) values
  ('max_pending', '1000000'),
  ('max_payload_bytes', '1048576'),
  ('idempotency_window_ms', '86400000'),
  -- month, week or day
  ('partition_size', '"month"'),
  ('messages_retention_months', '6'),
  ('attempts_retention_months', '6');

-- One sequence for every id, moved forward to follow the clock: (milliseconds since 2024) * 4096 + counter, below 2^53.
create sequence holdfast.ids as bigint minvalue 1 start 1 no cycle;

create table holdfast.messages (
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
create table holdfast.messages_default partition of holdfast.messages default;
create index messages_unrouted on holdfast.messages (id) where is_unrouted;

-- Bodies that outlive their partition, because a delivery or an unsettled dead letter still needs them.
create table holdfast.messages_kept (like holdfast.messages including all);

-- A lane is the line of work of one endpoint (or, later, one queue). Its shard is lane_id & 255.
create sequence holdfast.lanes as integer minvalue 1;

create table holdfast.endpoints (
  id integer primary key default nextval('holdfast.lanes'),
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
-- Whoever changes it, also by hand: the nodes shall hear of it.
create function holdfast.note_change() returns trigger
language plpgsql as $$
begin
  new.changed_xid := pg_current_xact_id();
  return new;
end $$;
create trigger endpoints_note_change before update on holdfast.endpoints for each row execute function holdfast.note_change();
create index endpoints_changed on holdfast.endpoints (changed_xid);
create index endpoints_shard on holdfast.endpoints ((id & 255));
create index endpoints_tenant on holdfast.endpoints (tenant) where tenant is not null;
create index endpoints_reenable on holdfast.endpoints (reenable_at) where reenable_at is not null;

-- The authority over an endpoint's circuit, for deliveries and synchronous requests alike. `version` counts transitions.
create table holdfast.breakers (
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
create index breakers_changed on holdfast.breakers (changed_xid);

create table holdfast.deliveries (
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
create index deliveries_ready on holdfast.deliveries (lane_id, priority, id);
create index deliveries_scheduled on holdfast.deliveries (lane_id, due_at) where due_at is not null;
-- The key comes first: an index that begins with the lane, too, would seem as good to a planner without statistics, and sort the
-- whole lane for each look-up (1 ms instead of 0.02 ms a row at 3,000 waiting).
create index deliveries_keyed on holdfast.deliveries (ordering_key, lane_id, id) where ordering_key is not null;
create index deliveries_expiring on holdfast.deliveries (lane_id, expires_at) where expires_at is not null;
-- A message's first delivery has the message's own number, so that only fan-out needs an index to be found.
create index deliveries_message on holdfast.deliveries (message_id) where message_id <> id;

create table holdfast.attempts (
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
create table holdfast.attempts_default partition of holdfast.attempts default;
create index attempts_message on holdfast.attempts (message_id) where message_id <> delivery_id;
create index attempts_lane on holdfast.attempts (lane_id, delivery_id);

create table holdfast.dead_letters (
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
  action text
);
create index dead_letters_lane on holdfast.dead_letters (lane_id, state, id);
create index dead_letters_message on holdfast.dead_letters (message_id);
create index dead_letters_blocking on holdfast.dead_letters (ordering_key, lane_id, delivery_id)
  where blocks_key and settled_at is null;
-- Redrives under way.
create index dead_letters_underway on holdfast.dead_letters (id) where state = 'redriven' and settled_at is null;
create index dead_letters_redriven on holdfast.dead_letters (redriven_delivery_id) where redriven_delivery_id is not null;

create table holdfast.idempotency_keys (
  scope text not null,
  key text not null,
  body_hash text not null,
  result jsonb not null,
  expires_at timestamptz not null,
  primary key (scope, key)
);
create index idempotency_keys_expiry on holdfast.idempotency_keys (expires_at);

-- Nodes and their shards.
create sequence holdfast.incarnations as integer minvalue 1;
create table holdfast.nodes (
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

create table holdfast.shard_leases (
  shard smallint primary key check (shard between 0 and 255),
  incarnation integer,
  epoch bigint not null default 0,
  -- Set when the last owner died with work in flight; the next owner starts this shard's lanes in careful mode.
  is_suspect boolean not null default false
) with (fillfactor = 50);
insert into holdfast.shard_leases (shard) select generate_series(0, 255);

-- Deliveries that a careful node wrote down before it dispatched them.
create table holdfast.suspects (
  delivery_id bigint primary key,
  lane_id integer not null,
  incarnation integer,
  crashes integer not null
);
create index suspects_lane on holdfast.suspects (lane_id);

-- What owners last reported of their lanes, at most a second old. Publishing reads it and writes no counter.
create table holdfast.lane_stats (
  lane_id integer primary key,
  pending bigint not null default 0,
  in_flight integer not null default 0,
  oldest_due_at timestamptz,
  reported_at timestamptz not null default now()
) with (fillfactor = 50);

create table holdfast.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  subject text not null,
  detail jsonb not null default '{}'
);
create index audit_log_subject on holdfast.audit_log (subject, id);

create table holdfast.quarantine (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  delivery_id bigint not null,
  lane_id integer not null,
  incarnation integer not null,
  record jsonb not null,
  error text not null
);
