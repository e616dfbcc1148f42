-- What a monitor may call and read, one name a line: counts and states; no payload, no error text, no key of a message, no secret.
-- A role that may call this function has been granted the list: see renew_grants.
create or replace function holdfast_internal.rights_of_monitor() returns setof text
language sql immutable as $$
  values
    ('holdfast.metrics'), ('holdfast.endpoint_metrics'),
    ('holdfast.endpoint_health'), ('holdfast.dlq_summary'),
    ('holdfast.maintenance_tasks'),
    ('holdfast.format_id'), ('holdfast.parse_id')
$$;
