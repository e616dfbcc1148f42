-- What is left of the rate of each job that has one, by job: [tokens, when counted].
alter table holdfast_internal.queue_cursors add column job_tokens jsonb;

-- Concurrency keys of jobs with a rate per key: when the key has paid for what it has started. Rows whose time has passed are removed by upkeep.
create table holdfast_internal.key_rates (
  lane_id integer not null,
  key text not null,
  paid_until timestamptz not null,
  primary key (lane_id, key)
) with (fillfactor = 70);
create index key_rates_paid on holdfast_internal.key_rates (paid_until);
