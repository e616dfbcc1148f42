-- Broker mode: nodes claim runs for workers that have no database connection, and RabbitMQ carries them.

-- How the worker gets its runs. Workers of broker mode are judged by nodes alone, while their beats can get through.
alter table holdfast_internal.workers add column via text not null default 'database' check (via in ('database', 'broker'));

-- A run that was dispatched and has not started is held by a claim of its own with `worker` = 0. `dispatched_for`: the worker that it was claimed for;
-- `published_at`: when the broker confirmed it; `unstarted_until`: when its message expires.
alter table holdfast_internal.run_claims add column dispatched_for integer, add column published_at timestamptz, add column unstarted_until timestamptz;
create index run_claims_dispatched on holdfast_internal.run_claims (id) where worker = 0;

-- `x-death` of the message that brought a run here.
alter table holdfast_internal.dead_letters add column broker_history jsonb;

-- Up to which time what workers published has been handled. One row.
create table holdfast_internal.broker_state (
  is_only boolean primary key default true check (is_only),
  beats_through timestamptz not null default '-infinity',
  results_through timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into holdfast_internal.broker_state default values;

-- The queues of job queues and workers that nodes have declared on the broker.
create table holdfast_internal.broker_queues (
  name text primary key,
  -- Null: the shared queue of a job queue.
  worker text,
  ttl_ms double precision,
  declared_at timestamptz not null default clock_timestamp()
);

-- What each node last said of its connection to the broker.
create table holdfast_internal.broker_reports (
  incarnation bigint primary key,
  node text not null,
  report jsonb not null,
  reported_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

-- Messages that no node could read, as they were received. `fields` is json: jsonb has no NUL, and a header may.
create table holdfast_internal.broker_rejects (
  id bigint primary key generated always as identity,
  received_at timestamptz not null default clock_timestamp(),
  queue text not null,
  error text not null,
  fields json not null,
  body bytea not null
);

insert into holdfast_internal.alert_rules (name, kind, severity, threshold) values
  ('broker-dead-letter-rate', 'broker_dead_letter_rate', 'warning', 10),
  ('broker-dead-letters', 'broker_dead_letters', 'critical', 100),
  ('broker-disconnected', 'broker_disconnected', 'critical', 60)
on conflict do nothing;
