-- Declares the jobs of a worker. Settings that were never declared before belong to a new deployment. Returns the ids of the declarations, in the
-- order of the names; the worker stores them in its row (set_worker_jobs_v2). Indexes: jobs_name_key, job_declarations_settings.
create or replace function holdfast_internal.declare_jobs(job_names text[], job_settings jsonb[]) returns bigint[]
language plpgsql as $$
declare
  max_kept constant integer := 100;
  given record;
  job integer;
  declaration bigint;
  declarations bigint[] := '{}';
begin
  -- In the order of names, so that two workers that declare the same new jobs don't deadlock.
  for given in select * from unnest(job_names, job_settings) with ordinality as each (name, settings, place) order by name loop
    job := holdfast_internal.introduce_job(given.name, given.settings);
    declaration := (
      select id from holdfast_internal.job_declarations where job_id = job and md5(settings::text) = md5(given.settings::text)
    );
    if declaration is null then
      perform holdfast_internal.check_job(given.name, given.settings);
      insert into holdfast_internal.job_declarations as known (job_id, settings) values (job, given.settings)
      on conflict (job_id, md5(settings::text)) do update set settings = known.settings returning id into declaration;
      delete from holdfast_internal.job_declarations where id = any (array(
        select id from holdfast_internal.job_declarations where job_id = job order by id desc offset max_kept));
    end if;
    declarations[given.place] := declaration;
  end loop;
  perform holdfast_internal.apply_declarations(declarations);
  return declarations;
end $$;
