-- Rejects invalid settings of a job before they are stored: upkeep reads the settings of all jobs.
create or replace function holdfast_internal.check_job(job_name text, job_settings jsonb) returns void
language plpgsql as $$
declare
  problem constant text := case when coalesce(jsonb_typeof(job_settings), 'null') <> 'object' then 'its settings must be an object'
    else holdfast_internal.value_problem(job_settings || jsonb_build_object('name', job_name), holdfast_internal.job_schema(), '') end;
begin
  if problem is not null then
    raise exception 'the job is invalid: %', problem using errcode = 'HF032', hint = 'Nothing was stored.';
  end if;
end $$;
