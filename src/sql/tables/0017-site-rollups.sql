-- What the whole site did, so that a chart of it reads a few hundred rows however many endpoints there are. Minutes are kept for 25 hours, quarters
-- of an hour for 8 days, hours for 35 days.
create table holdfast_internal.site_rollups (
  step_seconds integer not null check (step_seconds in (60, 900, 3600)),
  starts_at timestamptz not null,
  -- Counted by the leader when a minute is over. Null: not counted.
  accepted bigint,
  -- The most deliveries that were owed, as sampled once a minute.
  backlog bigint,
  -- Added by the nodes that made the attempts.
  attempts bigint not null default 0,
  successes bigint not null default 0,
  throttled bigint not null default 0,
  -- From acceptance to delivery, by the buckets of src/core/duration-buckets.ts; what is missing at the end is zero.
  latencies integer[] not null default '{}',
  primary key (step_seconds, starts_at)
) with (fillfactor = 50);
