-- Stores which jobs the worker has handlers for, and its declarations of them; returns the ids of those jobs, and whether all declarations still
-- exist (they don't if a job was deleted). Writes nothing if nothing changed. Indexes: jobs_name_key, workers_pkey, job_declarations_pkey.
create or replace function holdfast_internal.set_worker_jobs_v2(
  me integer, job_names text[], declarations bigint[], out ids integer[], out are_declared boolean
)
language plpgsql as $$
begin
  ids := array(select id from holdfast_internal.jobs where name = any (job_names) order by id);
  if (select declaration_ids is distinct from declarations from holdfast_internal.workers where incarnation = me) then
    perform holdfast_internal.lock_declarations();
  end if;
  update holdfast_internal.workers set job_ids = ids, declaration_ids = declarations
  where incarnation = me and (job_ids is distinct from ids or declaration_ids is distinct from declarations);
  are_declared := (select count(*) from holdfast_internal.job_declarations where id = any (declarations)) = cardinality(declarations);
  perform holdfast_internal.apply_declarations(declarations);
  -- These jobs have a worker with a handler now: see sweep_unhandled. Rows of jobs are locked after lock_declarations, never before.
  update holdfast_internal.jobs set unhandled_since = null where id = any (ids) and unhandled_since is not null;
end $$;
