-- How far the runs have been looked through for those in the queues that a job has left: {"movedAt", "through": an id, "found": queues with such runs}; and when that was done last.
alter table holdfast_internal.jobs add column former_scan jsonb, add column former_seen_at timestamptz;
