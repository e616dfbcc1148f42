create or replace function holdfast_internal.reenable_endpoints(actor text) returns setof text
language sql as $$
  select name from (
    select name, holdfast.set_endpoint_state(name, 'active', 're-enabled after its cooldown', actor)
    from (select name from holdfast_internal.endpoints where reenable_at <= now() and state = 'disabled' order by reenable_at limit 500) as due
  ) as reenabled
$$;
