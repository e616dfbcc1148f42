-- Settings of jobs as workers have declared them, numbered in the order in which they were first seen: the order of deployments.
create table holdfast_internal.job_declarations (
  id bigint generated always as identity primary key,
  job_id integer not null references holdfast_internal.jobs on delete cascade,
  settings jsonb not null,
  seen_at timestamptz not null default clock_timestamp()
);
create unique index job_declarations_settings on holdfast_internal.job_declarations (job_id, md5(settings::text));
-- The declaration in force; null: no worker has declared the job.
alter table holdfast_internal.jobs add column declaration_id bigint;
-- What the worker declares; null for workers of earlier versions.
alter table holdfast_internal.workers add column declaration_ids bigint[];
