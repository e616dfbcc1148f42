-- Pause, resume, enable and disable, by name. Returns the state afterwards.
create or replace function holdfast.set_endpoint_state(endpoint_name text, new_state text, why text default null, actor text default current_user)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  endpoint holdfast_internal.endpoints;
begin
  if new_state is null or new_state not in ('active', 'paused', 'disabled') then
    raise exception 'the state of an endpoint must be active, paused or disabled, not %', coalesce(new_state, 'null') using errcode = '22023';
  end if;
  select * into endpoint from holdfast_internal.endpoints where name = endpoint_name for update;
  if not found then
    raise exception 'there is no endpoint named "%"', endpoint_name using errcode = 'HF001', hint = 'List them with: holdfast endpoints list';
  end if;
  if endpoint.state = new_state then
    return new_state;
  end if;
  update holdfast_internal.endpoints set
    state = new_state, state_reason = case when new_state <> 'active' then why end, state_changed_at = clock_timestamp(), reenable_at = null,
    changed_xid = pg_current_xact_id(), updated_at = clock_timestamp(),
    pauses = case when new_state = 'active' then holdfast_internal.close_pause(pauses) else holdfast_internal.open_pause(pauses) end
  where id = endpoint.id;
  if new_state = 'active' then
    update holdfast_internal.breakers set permanents = '{}', streak = 0, streak_started_at = null, changed_xid = pg_current_xact_id()
    where lane_id = endpoint.id;
  end if;
  perform holdfast_internal.audit(actor, 'endpoint.' || new_state, 'endpoint:' || endpoint_name,
                         jsonb_build_object('from', endpoint.state, 'reason', why, 'name', endpoint_name));
  perform holdfast_internal.notify('holdfast_lanes', endpoint.id::text);
  return new_state;
end $$;
