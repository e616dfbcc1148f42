-- When circuits opened and closed, newest last. `probes`: how many probes failed until the next change.
create or replace view holdfast.circuit_changes as
select change.id, change.at, (select name from holdfast_internal.endpoints where id = change.lane_id) as endpoint, change.from_state, change.to_state,
       change.version, change.actor, change.probes, change.last_probe_at
from holdfast_internal.circuit_changes as change;
