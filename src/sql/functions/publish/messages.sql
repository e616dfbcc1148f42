-- The archive: every message of the retention time, events and inputs of job runs alike.
create or replace view holdfast.messages as
select id, created_at, type, tenant, correlation_id, ordering_key, criticality, is_unrouted, is_run, size, headers, metadata, body
from holdfast_internal.messages;
