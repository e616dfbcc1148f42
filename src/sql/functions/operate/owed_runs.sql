-- Every job run that hasn't ended, for manual queries. `due_at`: null if it only waits for a free worker, `infinity` if another
-- event makes it due (its job is enabled, an earlier run of its key ends).
create or replace view holdfast.owed_runs as
select run.id, queue.name as queue, job.name as job, run.attempt, run.crashes, run.priority, run.claim_id is not null as is_claimed, run.due_at,
       run.expires_at, run.ordering_key, run.concurrency_key, run.target, holdfast_internal.correlation_of(coalesce(run.message_id, run.id)) as correlation_id
from holdfast_internal.owed_runs as run
join holdfast_internal.jobs as job on job.id = run.job_id
join holdfast_internal.queues as queue on queue.id = run.lane_id;
