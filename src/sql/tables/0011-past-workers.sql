-- Who an incarnation of a worker was: its row in `workers` goes when it stops or dies, and what it ran is looked at for longer. Kept as long as
-- attempts are (purge_archive).
create table holdfast_internal.past_workers (
  incarnation integer primary key,
  name text not null,
  host text not null,
  ended_at timestamptz not null default now()
);
create index past_workers_age on holdfast_internal.past_workers (ended_at);
create index past_workers_name on holdfast_internal.past_workers (name, incarnation);
