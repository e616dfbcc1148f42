-- Everything that decides when a pending delivery is sent: its endpoint, its circuit, earlier deliveries of its ordering key, its owner.
-- No row if it is not pending. Indexes: deliveries_pkey, endpoints_pkey, breakers_pkey, lane_stats_pkey, deliveries_keyed, dead_letters_blocking,
-- shard_leases_pkey, nodes_pkey, audit_log_subject.
create or replace function holdfast_internal.delivery_situation(delivery bigint)
returns table (
  endpoint text, state text, reason text, state_changed_at timestamptz, stopped_by text, circuit text, failures integer, opened_at timestamptz,
  probe_at timestamptz, held_until timestamptz, hold_reason text, due_at timestamptz, expires_at timestamptz, owed_at timestamptz,
  ordering_key text, ahead_id bigint, ahead bigint, behind bigint, blocking_letter_id bigint, attempt integer, uncounted integer, pending bigint,
  in_flight integer, settings jsonb, shard integer, node text, is_node_alive boolean
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
#variable_conflict use_column
declare
  max_counted constant integer := 1000;
begin
  return query
  select known.name, known.state, known.state_reason, known.state_changed_at,
    case when known.state <> 'active' then (
      -- Entries about the circuit have the same subject: the entry about stopping the endpoint is among the last few.
      select entry.actor from (
        select one.actor, one.action, one.id from holdfast_internal.audit_log as one
        where one.subject = 'endpoint:' || known.name order by one.subject desc, one.id desc limit 20
      ) as entry where entry.action = 'endpoint.' || known.state limit 1
    ) end,
    coalesce(breaker.state, 'closed'), coalesce(breaker.failures, 0), breaker.opened_at, breaker.probe_at,
    case when breaker.held_until > now() then breaker.held_until end, breaker.hold_reason,
    owed.due_at, owed.expires_at, coalesce(owed.owed_at, holdfast_internal.time_of_id(owed.id)), owed.ordering_key,
    (
      select before.id from holdfast_internal.deliveries as before
      where before.ordering_key = owed.ordering_key and before.lane_id = owed.lane_id and before.id < owed.id
      order by before.ordering_key, before.lane_id, before.id limit 1
    ),
    (
      select count(*) from (
        select from holdfast_internal.deliveries as before
        where before.ordering_key = owed.ordering_key and before.lane_id = owed.lane_id and before.id < owed.id limit max_counted
      ) as counted
    ),
    (
      select count(*) from (
        select from holdfast_internal.deliveries as after
        where after.ordering_key = owed.ordering_key and after.lane_id = owed.lane_id and after.id > owed.id limit max_counted
      ) as counted
    ),
    (
      select letter.id from holdfast_internal.dead_letters as letter
      where letter.ordering_key = owed.ordering_key and letter.lane_id = owed.lane_id and letter.delivery_id < owed.id
        and letter.blocks_key and letter.settled_at is null
      order by letter.ordering_key, letter.lane_id, letter.delivery_id limit 1
    ),
    owed.attempt, owed.uncounted, coalesce(stats.pending, 0), coalesce(stats.in_flight, 0), known.settings, known.id & 255, owner.name,
    coalesce(owner.beat_at > now() - interval '10 seconds', false)
  from (select * from holdfast_internal.deliveries as one where one.id = delivery limit 1) as owed
  cross join lateral (select * from holdfast_internal.endpoints as one where one.id = owed.lane_id limit 1) as known
  left join lateral (select * from holdfast_internal.breakers as one where one.lane_id = owed.lane_id limit 1) as breaker on true
  left join lateral (select * from holdfast_internal.lane_stats as one where one.lane_id = owed.lane_id limit 1) as stats on true
  left join lateral (select lease.incarnation from holdfast_internal.shard_leases as lease where lease.shard = known.id & 255 limit 1) as lease on true
  left join lateral (select one.name, one.beat_at from holdfast_internal.nodes as one where one.incarnation = lease.incarnation limit 1) as owner on true;
end $$;
