-- Jobs whose declaration in force is not the newest of these declarations and those of live workers. Indexes: job_declarations_pkey, jobs_pkey.
create or replace function holdfast_internal.newest_declarations(declarations bigint[])
returns table (job_id integer, name text, declaration_id bigint, settings jsonb, was jsonb)
language sql stable as $$
  select job.id, job.name, newest.id, declared.settings, job.defaults
  from (
    select known.job_id, max(known.id) as id from holdfast_internal.job_declarations as known
    where known.id = any (declarations || array(
      select distinct unnest(worker.declaration_ids) from holdfast_internal.workers as worker where worker.state <> 'stopping'
    )) group by 1
  ) as newest
  join holdfast_internal.jobs as job on job.id = newest.job_id and job.declaration_id is distinct from newest.id
  join holdfast_internal.job_declarations as declared on declared.id = newest.id
$$;
