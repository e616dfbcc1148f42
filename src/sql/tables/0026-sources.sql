-- Where events come from beside publishers: queues of a broker. Every node consumes every active source. Secrets are sealed inside `config`.
create table holdfast_internal.event_sources (
  id integer primary key generated always as identity,
  name text not null unique,
  type text not null,
  config jsonb not null,
  state text not null default 'active' check (state in ('active', 'paused', 'rejecting')),
  state_reason text,
  state_changed_at timestamptz not null default clock_timestamp(),
  -- Counts changes, so that nodes see which of them they have.
  version bigint not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);

-- What each node last said of each source. The counts are since the node started.
create table holdfast_internal.source_reports (
  source_id integer not null references holdfast_internal.event_sources (id) on delete cascade,
  incarnation bigint not null,
  node text not null,
  state text not null,
  error text,
  -- Since when it is connected, or not.
  since timestamptz not null,
  received bigint not null,
  published bigint not null,
  rejected bigint not null,
  unacknowledged integer not null,
  reported_at timestamptz not null default clock_timestamp(),
  primary key (source_id, incarnation)
) with (fillfactor = 70);

-- Messages that could not become events, as they were received. `fields` is json: jsonb has no NUL, and a header may.
create table holdfast_internal.source_rejects (
  id bigint primary key generated always as identity,
  source_id integer not null references holdfast_internal.event_sources (id),
  received_at timestamptz not null default clock_timestamp(),
  message_id text,
  correlation_id text,
  code text not null,
  error text not null,
  fields json not null,
  body bytea not null,
  tries integer not null default 0,
  last_tried_at timestamptz
);
create index source_rejects_source on holdfast_internal.source_rejects (source_id, id);

insert into holdfast_internal.alert_rules (name, kind, severity, threshold) values ('source-disconnected', 'source_disconnected', 'critical', 60) on conflict do nothing;
