-- Deliveries and runs that failed for good, with the reason.
create or replace view holdfast.dead_letters as
select id, delivery_id, message_id, lane_id, route_id, state, reason, outcome, status_code, error_code, error, criticality, priority, attempt,
       attempts, request, ordering_key, redrives, redriven_delivery_id, created_at, settled_at, settled_by, note, action, fingerprint
from holdfast_internal.dead_letters;
