-- Active, paused or disabled. Runs of a job that isn't active are kept; claims set them aside and take them when it is active again.
create or replace function holdfast_internal.set_job_state(
  job_name text, new_state text, why text default null, actor text default current_user, reenable_ms double precision default null
) returns text
language plpgsql as $$
declare
  job holdfast_internal.jobs;
begin
  if new_state not in ('active', 'paused', 'disabled') then
    raise exception 'the state of a job must be active, paused or disabled, not %', new_state using errcode = '22023';
  end if;
  select * into job from holdfast_internal.jobs where name = job_name for update;
  if not found then
    raise exception 'there is no job named "%"', job_name using errcode = 'HF030', hint = 'List them with: holdfast jobs list';
  end if;
  if job.state = new_state then
    -- A manual disabling is permanent, even if a cooldown is running.
    if reenable_ms is null and job.reenable_at is not null then
      update holdfast_internal.jobs set reenable_at = null, state_reason = why, updated_at = clock_timestamp() where id = job.id;
      perform holdfast_internal.audit(actor, 'job.' || new_state, 'job:' || job_name, jsonb_build_object('from', job.state, 'reason', why));
    end if;
    return new_state;
  end if;
  -- Claims that saw the old state end first; later ones see the new one.
  perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane)
  from (select unnest(job.queue_id || job.former_queue_ids) as lane order by lane) as shut;
  update holdfast_internal.jobs set
    state = new_state, state_reason = why, state_changed_at = clock_timestamp(), updated_at = clock_timestamp(),
    reenable_at = clock_timestamp() + make_interval(secs => reenable_ms / 1000), streak = 0, streak_started_at = null
  where id = job.id;
  if new_state = 'active' then
    perform holdfast_internal.ring_workers(lane) from unnest(job.queue_id || job.former_queue_ids) as lane;
  end if;
  perform holdfast_internal.audit(actor, 'job.' || new_state, 'job:' || job_name, jsonb_build_object('from', job.state, 'reason', why));
  perform holdfast_internal.notify('holdfast_jobs', job_name);
  return new_state;
end $$;
