-- A job that was disabled is told of at once; a rule that somebody has changed stays as it is.
update holdfast_internal.alert_rules set hold_ms = 0 where name = 'job-disabled' and kind = 'job_disabled' and hold_ms = 60000;
insert into holdfast_internal.alert_rules (name, kind, severity, threshold) values ('backlog', 'backlog', 'warning', 50000) on conflict do nothing;
