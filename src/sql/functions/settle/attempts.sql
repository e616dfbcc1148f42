-- Every attempt. `outcome`: 1 success, 2 retryable, 3 permanent, 4 gone, 5 throttled, 6 interrupted, 10 expired, 11 cancelled, 12 dropped, 13 skipped.
create or replace view holdfast.attempts as
select delivery_id, message_id, started_at, attempt, lane_id, route_id, duration_ms, outcome, status_code, is_probe, error_code, error
from holdfast_internal.attempts;
