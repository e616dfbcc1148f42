-- Registers the tasks of this leader: [{name, schedule, firstRunAt}]. A task keeps its schedule over a change of leader.
create or replace function holdfast_internal.register_tasks(me integer, my_term bigint, tasks jsonb) returns void
language plpgsql as $$
begin
  perform holdfast_internal.assert_leader(me, my_term);
  insert into holdfast_internal.maintenance_tasks as known (name, schedule, next_run_at)
  select task.name, task.schedule, coalesce(task."firstRunAt", clock_timestamp())
  from jsonb_to_recordset(tasks) as task (name text, schedule jsonb, "firstRunAt" timestamptz)
  on conflict (name) do update set
    schedule = excluded.schedule,
    next_run_at = case when known.schedule = excluded.schedule then known.next_run_at else least(known.next_run_at, excluded.next_run_at) end;
  -- The previous leader will not finish tasks that it started.
  update holdfast_internal.maintenance_tasks set running_since = null where running_since is not null;
  delete from holdfast_internal.maintenance_tasks where name not in (select task ->> 'name' from jsonb_array_elements(tasks) as task);
end $$;
