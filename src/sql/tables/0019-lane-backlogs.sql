-- How much endpoints were owed, as sampled once a minute, so that a chart of one can be drawn. Only of those that were owed something, the 500 with the
-- most: a row for each of them and minute for 25 hours, and the most of each hour for 35 days.
create table holdfast_internal.lane_backlogs (
  lane_id integer not null,
  step_seconds integer not null check (step_seconds in (60, 3600)),
  starts_at timestamptz not null,
  pending bigint not null,
  primary key (lane_id, step_seconds, starts_at)
) with (fillfactor = 70);
create index lane_backlogs_age on holdfast_internal.lane_backlogs (step_seconds, starts_at);
