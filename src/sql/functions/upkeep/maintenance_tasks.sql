-- The last results of the upkeep tasks, and when each runs next.
create or replace view holdfast.maintenance_tasks as
select name, schedule, next_run_at, requested_at, running_since, node, last_started_at, last_duration_ms, last_succeeded_at, last_failed_at,
       last_error, failures, summary
from holdfast_internal.maintenance_tasks;
