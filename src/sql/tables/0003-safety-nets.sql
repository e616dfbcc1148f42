-- What should never happen, and is counted and alarmed when it does: lanes that nobody read although something was due, and results that could not be
-- stored.
create index audit_log_revivals on holdfast_internal.audit_log (at) where action = 'lane.revived';

alter table holdfast_internal.quarantine
  -- A failure that is tried again by itself, at growing intervals.
  add column tries integer not null default 0,
  add column next_try_at timestamptz not null default now() + interval '30 seconds',
  add column last_error text;
create index quarantine_due on holdfast_internal.quarantine (next_try_at);
create index quarantine_lane on holdfast_internal.quarantine (lane_id, id);

insert into holdfast_internal.alert_rules (name, kind, severity, threshold, hold_ms) values
  ('lane-forgotten', 'lane_forgotten', 'critical', 0, 0),
  ('quarantine', 'quarantine', 'critical', 0, 0);
