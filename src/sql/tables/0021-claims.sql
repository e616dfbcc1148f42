-- Which jobs the worker has handlers for; null: a worker of an earlier version, which takes runs of every job.
alter table holdfast_internal.workers add column job_ids integer[];

-- A claim passed the run by because its job was not active, or the claiming worker has no handler for it: it waits in the line of its job.
alter table holdfast_internal.runs add column is_aside boolean not null default false;
update holdfast_internal.runs set is_aside = true
where due_at = 'infinity' and claim_id is null and target is null and crashes = 0 and ordering_key is null and concurrency_key is null;
create index runs_aside on holdfast_internal.runs (lane_id, job_id, priority, id) where is_aside and due_at = 'infinity' and claim_id is null;

insert into holdfast_internal.alert_rules (name, kind, severity, threshold) values ('job-unhandled', 'job_unhandled', 'warning', 60) on conflict do nothing;
