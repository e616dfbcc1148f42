-- What an application may call, one name a line: the functions of the SQL API that publish, and those that the SDK calls for the same.
-- A role that may call this function has been granted the list: see renew_grants.
create or replace function holdfast_internal.rights_of_app() returns setof text
language sql immutable as $$
  values
    ('holdfast.send'), ('holdfast.send_batch'),
    ('holdfast.publish'), ('holdfast.publish_batch'),
    ('holdfast.enqueue'), ('holdfast.enqueue_batch'), ('holdfast.declare_job'),
    ('holdfast.format_id'), ('holdfast.parse_id'),
    ('holdfast_internal.accept_lines'), ('holdfast_internal.accept_messages'),
    ('holdfast_internal.accept_events'),
    ('holdfast_internal.accept_run_lines'), ('holdfast_internal.accept_runs'),
    ('holdfast_internal.introduce_job'), ('holdfast_internal.check_bound'), ('holdfast_internal.event_schemas')
$$;
