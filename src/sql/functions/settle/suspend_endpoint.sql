-- Stops an active endpoint; its deliveries are kept and wait.
create or replace function holdfast_internal.suspend_endpoint(lane integer, new_state text, why text, reenable_ms double precision, actor text)
returns boolean
language plpgsql as $$
begin
  update holdfast_internal.endpoints set
    state = new_state, state_reason = why, state_changed_at = clock_timestamp(), changed_xid = pg_current_xact_id(),
    reenable_at = clock_timestamp() + make_interval(secs => reenable_ms / 1000),
    pauses = holdfast_internal.open_pause(pauses)
  where id = lane and state = 'active';
  if not found then
    return false;
  end if;
  perform holdfast_internal.audit(actor, 'endpoint.' || new_state, holdfast_internal.subject_of(lane), jsonb_build_object('reason', why));
  return true;
end $$;
