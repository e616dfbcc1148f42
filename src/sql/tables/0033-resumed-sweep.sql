-- Where the check for runs that no worker handles goes on: below this id. 0: it has seen all runs for this job, and waits for the other jobs; null: not begun.
alter table holdfast_internal.jobs add column unhandled_swept_to bigint;
