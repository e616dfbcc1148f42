-- Records that a circuit has opened or closed. A failed probe is counted in the row of the opening. Index: circuit_changes_lane.
create or replace function holdfast_internal.note_circuit_change(lane integer, from_state text, to_state text, version bigint, actor text) returns void
language plpgsql as $$
declare
  opening bigint;
begin
  if to_state = 'open' and from_state = 'half_open' then
    select change.id into opening from holdfast_internal.circuit_changes as change
    where change.lane_id = lane order by change.lane_id desc, change.id desc limit 1;
    update holdfast_internal.circuit_changes as change set probes = change.probes + 1, last_probe_at = clock_timestamp()
    where change.id = opening and change.to_state = 'open';
    if found then
      return;
    end if;
  end if;
  insert into holdfast_internal.circuit_changes (lane_id, from_state, to_state, version, actor)
  values (lane, note_circuit_change.from_state, note_circuit_change.to_state, note_circuit_change.version, note_circuit_change.actor);
end $$;
