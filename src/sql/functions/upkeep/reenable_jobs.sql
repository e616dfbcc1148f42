create or replace function holdfast_internal.reenable_jobs(actor text) returns setof text
language sql as $$
  select name from (
    select name, holdfast_internal.set_job_state(name, 'active', 're-enabled after its cooldown', actor)
    from (select name from holdfast_internal.jobs where reenable_at <= now() and state = 'disabled' order by reenable_at limit 500) as due
  ) as reenabled
$$;
