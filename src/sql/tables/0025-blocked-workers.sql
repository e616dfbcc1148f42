-- The runs of which one blocks the event loop of the worker, as its heartbeat's thread saw: null while it isn't blocked, empty when no handler is at work.
-- A crash of the worker is charged to these alone.
alter table holdfast_internal.workers add column blocked_runs bigint[], add column blocked_at timestamptz;
