-- Counts consecutive failed runs, and disables the job if there are too many within its window.
create or replace function holdfast_internal.record_job_failures(job integer, failures integer, actor text) returns boolean
language plpgsql as $$
declare
  current holdfast_internal.jobs;
  policy jsonb;
  threshold integer;
  is_old boolean;
begin
  select * into current from holdfast_internal.jobs where id = job for update;
  -- Settings that the job doesn't have are those of the installation.
  policy := holdfast_internal.setting_value('auto_disable') || coalesce(current.settings -> 'autoDisable', '{}');
  threshold := (policy ->> 'threshold')::integer;
  if current.id is null or threshold is null then
    return false;
  end if;
  is_old := coalesce(
    current.streak_started_at < clock_timestamp() - make_interval(secs => (policy ->> 'windowMs')::double precision / 1000), true
  ) or current.streak = 0;
  current.streak := failures + case when is_old then 0 else current.streak end;
  update holdfast_internal.jobs set
    streak = current.streak, streak_started_at = case when is_old then clock_timestamp() else streak_started_at end
  where id = job;
  if current.streak >= threshold and current.state = 'active' then
    perform holdfast_internal.set_job_state(
      current.name, 'disabled', format('%s runs failed in a row', current.streak), actor, (policy ->> 'reenableAfterMs')::double precision
    );
    perform holdfast_internal.hurry_alerts('job ' || current.name);
    return true;
  end if;
  return false;
end $$;
