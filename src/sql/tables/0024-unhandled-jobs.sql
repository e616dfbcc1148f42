-- Since when no live worker takes runs of the job, as the checks for zombies have seen it. Kept for jobs whose policy needs it.
alter table holdfast_internal.jobs add column unhandled_since timestamptz;
