-- Stores an endpoint, checked as the API checks it, and returns it with every default filled in. Secrets can't be given: PostgreSQL has no key to encrypt them with.
create or replace function holdfast.create_endpoint(
  name text, config jsonb default '{}', options jsonb default '{}', actor text default current_user
) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  given jsonb := coalesce(options, '{}');
  wanted jsonb;
  created holdfast_internal.endpoints;
  problem text;
begin
  if jsonb_typeof(given) <> 'object' then
    perform holdfast_internal.refuse_endpoint('its options must be an object');
  elsif given ?| '{name,config}' then
    perform holdfast_internal.refuse_endpoint('name and config are arguments of their own: leave them out of the options');
  end if;
  given := given || jsonb_build_object('name', name, 'config', coalesce(config, '{}'));
  problem := coalesce(
    holdfast_internal.value_problem(given, (select schema from holdfast_internal.endpoint_schemas() as known where known.name = 'endpoint'), ''),
    holdfast_internal.config_problem(coalesce(given ->> 'transport', 'http'), given -> 'config', true));
  if problem is not null then
    perform holdfast_internal.refuse_endpoint(problem);
  end if;
  wanted := holdfast_internal.complete_endpoint(given, holdfast_internal.setting_value('defaults'));
  perform holdfast_internal.check_completed(wanted);
  insert into holdfast_internal.endpoints (id, name, transport, tenant, tags, contact, preset, config, settings)
  select nextval('holdfast_internal.lanes'), wanted ->> 'name', wanted ->> 'transport', wanted ->> 'tenant',
    array(select jsonb_array_elements_text(wanted -> 'tags')), wanted ->> 'contact', wanted ->> 'preset', wanted -> 'config', wanted -> 'settings'
  on conflict do nothing returning * into created;
  if created.id is null then
    raise exception 'an endpoint named "%" already exists', name
      using errcode = 'HF015', hint = 'Change it with holdfast.update_endpoint, or choose another name.';
  end if;
  perform holdfast_internal.write_shorthand(created, wanted -> 'eventTypes');
  perform holdfast_internal.audit(actor, 'endpoint.created', 'endpoint:' || created.name,
    holdfast_internal.changes('{}', holdfast_internal.endpoint_view(created)));
  perform holdfast_internal.notify('holdfast_lanes', created.id::text);
  return holdfast_internal.endpoint_shown(created);
end $$;
