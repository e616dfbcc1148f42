-- Puts the newest declaration of each of these jobs in force: the newest of these declarations and those of live workers. The settings of a
-- deployment apply from its first worker until its last one has stopped, then those of the remaining workers. Most calls find nothing to change and
-- take no lock. Indexes: see newest_declarations.
create or replace function holdfast_internal.apply_declarations(declarations bigint[]) returns void
language plpgsql as $$
declare
  changed record;
begin
  if not exists (select from holdfast_internal.newest_declarations(declarations)) then
    return;
  end if;
  -- A worker that joins holds this lock until its row names its declarations (set_worker_jobs_v2). A worker of an older deployment reads again under
  -- the lock and sees them; without the lock it could restore its own settings for one round.
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
