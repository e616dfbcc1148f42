-- Refuses changes of an endpoint that are invalid by themselves. Config fields with the stored value are not changes.
create or replace function holdfast_internal.check_changes(endpoint holdfast_internal.endpoints, changes jsonb) returns void
language plpgsql stable as $$
declare
  schema jsonb := (select known.schema from holdfast_internal.endpoint_schemas() as known where known.name = 'endpoint');
  changed jsonb;
  problem text;
begin
  problem := case
    when coalesce(jsonb_typeof(changes), 'null') <> 'object' then 'its changes must be an object'
    when changes ? 'name' then 'name can''t be changed'
    when changes ? 'transport' and changes ->> 'transport' is distinct from endpoint.transport
      then 'transport can''t be changed in SQL: create another endpoint, or use the API, the CLI ("holdfast endpoints") or the SDK'
    else holdfast_internal.value_problem(changes, schema - 'required', '')
  end;
  if problem is null and changes ? 'config' then
    select coalesce(jsonb_object_agg(given.key, given.value), '{}') into changed
    from jsonb_each(changes -> 'config') as given where given.value is distinct from endpoint.config -> given.key;
    problem := coalesce(
      holdfast_internal.config_problem(endpoint.transport, holdfast_internal.without_marks(changed, endpoint.config), false),
      holdfast_internal.target_problem(endpoint, changed));
  end if;
  if problem is not null then
    perform holdfast_internal.refuse_endpoint(problem);
  end if;
end $$;
