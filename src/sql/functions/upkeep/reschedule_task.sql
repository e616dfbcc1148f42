-- Changes the schedule of a task, which runs next at the given time; a null schedule deletes the task.
create or replace function holdfast_internal.reschedule_task(me integer, my_term bigint, task_name text, new_schedule jsonb, next_at timestamptz) returns void
language plpgsql as $$
begin
  perform holdfast_internal.assert_leader(me, my_term);
  if new_schedule is null then
    delete from holdfast_internal.maintenance_tasks where name = task_name;
    return;
  end if;
  insert into holdfast_internal.maintenance_tasks (name, schedule, next_run_at) values (task_name, new_schedule, next_at)
  on conflict (name) do update set schedule = excluded.schedule, next_run_at = excluded.next_run_at;
end $$;
