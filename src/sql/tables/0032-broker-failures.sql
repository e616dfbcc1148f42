-- When the broker gave up its run the last time. A dead letter keeps its id when its redrive fails too: the id does not say when that was.
alter table holdfast_internal.dead_letters add column broker_failed_at timestamptz;
-- Failures of broker mode, by their time. Empty at first: building it reads the dead letters once.
create index dead_letters_broker_failed on holdfast_internal.dead_letters (broker_failed_at) where broker_failed_at is not null;
