-- Makes the leading node evaluate the alert rules now, ahead of its schedule.
create or replace function holdfast_internal.hurry_alerts(why text) returns void
language sql as $$
  update holdfast_internal.maintenance_tasks set next_run_at = clock_timestamp(), requested_at = clock_timestamp() where name = 'alerts';
  select holdfast_internal.tell_nodes('holdfast_alerts', why)
$$;
