-- An endpoint as SQL shows it to its administrators: every setting, no secret.
create or replace function holdfast_internal.endpoint_shown(endpoint holdfast_internal.endpoints) returns jsonb
language sql stable as $$
  select (viewed - 'settings') || (viewed -> 'settings') || jsonb_build_object('state', endpoint.state, 'eventTypes', (
    select coalesce(jsonb_agg(event_type order by id), '[]') from holdfast_internal.routes where lane_id = endpoint.id and is_shorthand and enabled))
  from (values (holdfast_internal.endpoint_view(endpoint))) as view (viewed)
$$;
