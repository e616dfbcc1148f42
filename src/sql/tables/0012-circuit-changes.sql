-- When circuits opened and closed. Apart from the audit log, which is for what people do: an endpoint that is down for a day fails hundreds of probes, and
-- each counts in the row of the opening (`probes`) instead of making another. Ids come from the audit log's sequence, so that whoever follows both sees
-- one order.
create table holdfast_internal.circuit_changes (
  id bigint primary key default nextval('holdfast_internal.audit_log_id_seq'),
  at timestamptz not null default clock_timestamp(),
  lane_id integer not null,
  from_state text not null,
  to_state text not null,
  version bigint not null,
  actor text not null,
  -- Failed probes since, and the last of them.
  probes integer not null default 0,
  last_probe_at timestamptz
) with (fillfactor = 70);
create index circuit_changes_lane on holdfast_internal.circuit_changes (lane_id, id);

-- What the audit log has of circuits so far moves over; resets stay there too, for somebody did them.
insert into holdfast_internal.circuit_changes (id, at, lane_id, from_state, to_state, version, actor)
select entry.id, entry.at, endpoint.id, coalesce(entry.detail ->> 'from', 'closed'), substr(entry.action, 9), coalesce((entry.detail ->> 'version')::bigint, 0), entry.actor
from holdfast_internal.audit_log as entry join holdfast_internal.endpoints as endpoint on entry.subject = 'endpoint:' || endpoint.name
where entry.action = 'circuit.closed' or (entry.action = 'circuit.open' and entry.detail ->> 'from' = 'closed');
delete from holdfast_internal.audit_log where action in ('circuit.open', 'circuit.closed', 'circuit.half_open');

create index schedules_spent on holdfast_internal.schedules (run_at) where run_at is not null and next_at is null;
