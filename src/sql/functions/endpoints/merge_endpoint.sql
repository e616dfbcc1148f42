-- An endpoint with the changes applied to its given values (src/sdk/merge-endpoint.ts does the same for the API).
create or replace function holdfast_internal.merge_endpoint(endpoint holdfast_internal.endpoints, changes jsonb, site jsonb) returns jsonb
language plpgsql stable as $$
declare
  current jsonb := endpoint.settings || jsonb_build_object(
    'name', endpoint.name, 'transport', endpoint.transport, 'preset', endpoint.preset, 'tenant', endpoint.tenant, 'contact', endpoint.contact,
    'tags', endpoint.tags, 'config', endpoint.config, 'eventTypes', (
      select coalesce(jsonb_agg(event_type order by id), '[]') from holdfast_internal.routes where lane_id = endpoint.id and is_shorthand and enabled));
begin
  if changes ->> 'preset' <> endpoint.preset then
    current := holdfast_internal.without_preset(current, site);
  end if;
  return current || (
    select coalesce(jsonb_object_agg(given.key, case
      when jsonb_typeof(given.value) = 'object' and jsonb_typeof(current -> given.key) = 'object' then (current -> given.key) || given.value
      else given.value end), '{}')
    from jsonb_each(changes) as given);
end $$;
