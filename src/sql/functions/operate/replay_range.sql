create or replace function holdfast.replay_range(
  endpoint text, from_ts timestamptz, to_ts timestamptz, state text default null, target_endpoint text default null,
  rate double precision default null, actor text default current_user, target_route text default null
) returns text
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select holdfast.format_id('op', holdfast_internal.create_operation('replay',
    jsonb_strip_nulls(jsonb_build_object('endpoint', endpoint, 'from', from_ts, 'to', to_ts, 'state', state)),
    jsonb_strip_nulls(jsonb_build_object('targetEndpoint', target_endpoint, 'targetRoute', target_route)), rate, null, actor))
$$;
