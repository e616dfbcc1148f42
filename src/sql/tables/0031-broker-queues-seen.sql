-- What a node saw last of each queue on the broker. `problem`: what differs from what was declared, and the fix.
alter table holdfast_internal.broker_queues
  add column messages bigint,
  add column consumers integer,
  add column problem jsonb,
  add column seen_at timestamptz;
