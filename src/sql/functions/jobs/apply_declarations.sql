-- For each job of these declarations, the one in force is the newest of these and of those that live workers have: a deployment's settings hold from its first
-- worker on until its last one has gone, and then those that the remaining workers have. Most calls find nothing to change and take no lock. Indexes: see
-- newest_declarations.
create or replace function holdfast_internal.apply_declarations(declarations bigint[]) returns void
language plpgsql as $$
declare
  changed record;
begin
  if not exists (select from holdfast_internal.newest_declarations(declarations)) then
    return;
  end if;
  -- A worker that joins holds this lock until its row names its declarations (set_worker_jobs_v2): asked again after it, a worker of an older
  -- deployment sees them. Without the lock it could put its own settings back for one round.
  perform holdfast_internal.lock_declarations();
  for changed in select * from holdfast_internal.newest_declarations(declarations) order by name loop
    update holdfast_internal.jobs set
      declaration_id = changed.declaration_id, defaults = changed.settings,
      queue_id = holdfast_internal.ensure_queue(coalesce(overrides ->> 'queue', changed.settings ->> 'queue', 'default')),
      updated_at = case when defaults = changed.settings then updated_at else clock_timestamp() end
    where id = changed.job_id;
    if changed.was <> changed.settings then
      perform holdfast_internal.notify('holdfast_jobs', changed.name);
    end if;
  end loop;
end $$;
