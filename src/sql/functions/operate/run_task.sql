-- Runs a task at the leader's next check, regardless of its schedule. False if there is no such task.
create or replace function holdfast.run_task(task_name text, actor text default current_user) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update holdfast_internal.maintenance_tasks set next_run_at = clock_timestamp(), requested_at = clock_timestamp() where name = task_name;
  if not found then
    return false;
  end if;
  perform holdfast_internal.audit(actor, 'maintenance.requested', 'task:' || task_name);
  return true;
end $$;
