-- Deliveries as shown to users, pending or ended; ids that aren't deliveries are left out. Each is looked up separately (`limit 1` keeps the planner from
-- joining whole tables). A success takes precedence; a delivery that is neither pending nor ended otherwise is dead.
-- Indexes: deliveries_pkey, replays_ids, attempts_pkey of one partition each, dead_letters_delivery_id_key, dead_letters_redriven, messages_pkey, queues_pkey.
create or replace function holdfast_internal.describe_deliveries(delivery_ids bigint[])
returns table (
  id bigint, message_id bigint, endpoint text, route text, event_type text, tenant text, correlation_id text, state text, attempt bigint,
  next_attempt_at timestamptz, expires_at timestamptz, priority smallint, criticality smallint, ordering_key text, dead_letter_id bigint,
  replay_id bigint, last_attempt_at timestamptz, status_code smallint, error_code text, error text
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
#variable_conflict use_column
begin
  return query
  select asked.id, known.message_id, endpoint.name, route.name, message.type, message.tenant, message.correlation_id, known.state,
         coalesce(owed.attempt, tried.attempts, 0), owed.due_at, owed.expires_at, coalesce(owed.priority, letter.priority),
         coalesce(owed.criticality, letter.criticality,
                  -- A message without a criticality has 1; then its route has decided, which isn't stored.
                  case when known.route_id is null or message.criticality <> 1 then message.criticality end),
         coalesce(owed.ordering_key, letter.ordering_key, message.ordering_key), coalesce(owed.dead_letter_id, letter.id),
         coalesce(owed.replay_id, letter.replay_id, case when holdfast_internal.is_replay(asked.id) then asked.id end), tried.started_at,
         case when tried.outcome is null then letter.status_code else tried.status_code end,
         case when tried.outcome is null then letter.error_code else tried.error_code end,
         case when tried.outcome is null then letter.error else tried.error end
  from unnest(delivery_ids) as asked (id)
  left join lateral (select * from holdfast_internal.deliveries as one where one.id = asked.id limit 1) as owed on true
  left join lateral (
    select * from holdfast_internal.dead_letters as first where first.delivery_id = asked.id
    union all select * from holdfast_internal.dead_letters as again where again.redriven_delivery_id = asked.id limit 1
  ) as letter on true
  left join lateral (
    select one.outcome, one.started_at, one.status_code, one.error_code, one.error, one.message_id, one.lane_id, one.route_id,
           -- As the retry policy counts: interruptions, and endings without an attempt, don't count.
           count(*) filter (where one.outcome < 10 and one.outcome <> 6) over () as attempts
    from (select * from holdfast_internal.attempts as made where made.delivery_id = asked.id order by made.attempt offset 0) as one
    order by (one.outcome = 1) desc, one.attempt desc, one.outcome = 6 limit 1
  ) as tried on true
  cross join lateral (
    select coalesce(owed.message_id, letter.message_id, tried.message_id) as message_id,
           coalesce(owed.lane_id, letter.lane_id, tried.lane_id) as lane_id, coalesce(owed.route_id, letter.route_id, tried.route_id) as route_id,
           case when tried.outcome = 1 then 'succeeded' when owed.id is not null then 'pending'
                when tried.outcome >= 10 then holdfast_internal.outcome_word(tried.outcome) else 'dead' end as state
  ) as known
  left join lateral (select one.name from holdfast_internal.endpoints as one where one.id = known.lane_id limit 1) as endpoint on true
  left join lateral (select one.name from holdfast_internal.routes as one where one.id = known.route_id limit 1) as route on true
  left join lateral (
    select one.type, one.tenant, one.correlation_id, one.criticality, one.ordering_key
    from holdfast_internal.messages as one where one.id = known.message_id
    union all select kept.type, kept.tenant, kept.correlation_id, kept.criticality, kept.ordering_key
    from holdfast_internal.messages_kept as kept where kept.id = known.message_id limit 1
  ) as message on true
  -- A run has attempts and dead letters, too.
  where known.message_id is not null
    and (endpoint.name is not null or not exists (select from holdfast_internal.queues as queue where queue.id = known.lane_id));
end $$;
