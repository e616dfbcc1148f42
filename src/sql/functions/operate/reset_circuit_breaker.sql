create or replace function holdfast.reset_circuit_breaker(name text, actor text default current_user) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  before text;
  reset_version bigint;
  lane integer := (select endpoint.id from holdfast_internal.endpoints as endpoint where endpoint.name = reset_circuit_breaker.name);
begin
  if lane is null then
    raise exception 'there is no endpoint named "%"', name using errcode = 'HF001', hint = 'List them with: holdfast endpoints list';
  end if;
  actor := holdfast_internal.actor_of(actor);
  insert into holdfast_internal.breakers (lane_id) values (lane) on conflict do nothing;
  select state into before from holdfast_internal.breakers where lane_id = lane for update;
  update holdfast_internal.breakers set
    state = 'closed', version = version + 1, failures = 0, opened_at = null, probe_at = null, probe_token = null,
    probe_expires_at = null, held_until = null, changed_xid = pg_current_xact_id()
  where lane_id = lane returning version into reset_version;
  if before <> 'closed' then
    perform holdfast_internal.note_circuit_change(lane, before, 'closed', reset_version, actor);
  end if;
  perform holdfast_internal.audit(actor, 'circuit.reset', holdfast_internal.subject_of(lane), jsonb_build_object('name', name));
  perform holdfast_internal.notify('holdfast_lanes', lane::text);
  return true;
end $$;
