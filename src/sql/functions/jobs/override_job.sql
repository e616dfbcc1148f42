-- Sets overrides of the settings that the code declares; null removes an override.
create or replace function holdfast_internal.override_job(job_name text, changes jsonb, actor text default current_user) returns jsonb
language plpgsql as $$
declare
  job holdfast_internal.jobs;
  merged jsonb;
  lane integer;
begin
  select * into job from holdfast_internal.jobs where name = job_name for update;
  if not found then
    raise exception 'there is no job named "%"', job_name using errcode = 'HF030', hint = 'List them with: holdfast jobs list';
  end if;
  select coalesce(jsonb_object_agg(key, value), '{}') into merged from jsonb_each(job.overrides || changes) where value <> 'null';
  lane := holdfast_internal.ensure_queue(coalesce(merged ->> 'queue', job.defaults ->> 'queue', 'default'));
  update holdfast_internal.jobs set overrides = merged, updated_at = clock_timestamp(), queue_id = lane where id = job.id;
  perform holdfast_internal.audit(actor, 'job.updated', 'job:' || job_name, jsonb_build_object('before', job.overrides, 'after', merged));
  perform holdfast_internal.notify('holdfast_jobs', job_name);
  return merged;
end $$;
