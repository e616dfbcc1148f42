-- The next candidates of a replay, and the destination of each, as a query (position, id, is_meant, reached, message_id, lane_id, route_id): see
-- operation_targets. With an endpoint, or without a target, ended deliveries are sent again, each along its route, or to the target unchanged. With a
-- target alone, messages. Earlier replays in the range are left out: their originals are replayed.
create or replace function holdfast_internal.replay_targets(filter jsonb, options jsonb) returns text
language plpgsql stable as $$
declare
  asked record := holdfast_internal.delivery_conditions(filter - 'state');
  target_lane integer := case when options ? 'targetEndpoint' then holdfast_internal.lane_of(options ->> 'targetEndpoint') end;
  target_route integer := case when options ? 'targetRoute' then holdfast_internal.route_of(options ->> 'targetRoute') end;
  wanted text := filter ->> 'state';
  sources text[] := case
    when wanted is null then array['tried', 'dead']
    when wanted = 'dead' then array['dead']
    when wanted = 'failed' then array['expired', 'dropped', 'dead']
    else array['tried'] end;
  -- Only retention deletes messages: existence is checked only for ids older than the oldest partition.
  -- The ids of replays are collected once per statement: look-ups one by one cost 20 µs a row.
  is_meant text := format($condition$ (%1$s)
    and not delivery.id <@ (
      select coalesce(range_agg(replays.ids), '{}') from holdfast_internal.replays where replays.ids && int8range(greatest($3, %2$s), %3$s, '[]')
    )
    and (delivery.message_id >= %4$s or holdfast_internal.is_stored(delivery.message_id)) $condition$,
    asked.wide, asked.from_id, greatest(asked.from_id, asked.to_id - 1),
    coalesce((select min(part.from_id) from holdfast_internal.partition_ranges('messages') as part), 0));
begin
  if wanted not in ('succeeded', 'dead', 'expired', 'cancelled', 'dropped', 'skipped', 'failed') then
    raise exception 'deliveries cannot be selected by the state "%"', wanted
      using errcode = 'HF007', hint = 'Known states: succeeded, dead, expired, cancelled, dropped, skipped, and failed (dead, expired or dropped).';
  end if;
  if target_route is not null and (target_lane is not null or asked.lane is not null) then
    raise exception 'a replay along a route selects messages, not deliveries, and sends them to the endpoint of the route'
      using errcode = 'HF007', hint = 'Leave out endpoint and targetEndpoint.';
  end if;
  if target_route is not null then
    return holdfast_internal.messages_to_replay(filter, (select lane_id from holdfast_internal.routes where id = target_route), target_route);
  elsif target_lane is not null and asked.lane is null then
    return holdfast_internal.messages_to_replay(filter, target_lane, null);
  end if;
  -- If its endpoint or its route was deleted, it can't be sent along it again.
  if coalesce(target_lane, asked.lane) is null then
    is_meant := is_meant || 'and delivery.lane_id in (select id from holdfast_internal.endpoints) ';
  end if;
  if target_lane is null or target_lane = asked.lane then
    is_meant := is_meant || 'and (delivery.route_id is null or delivery.route_id in (select id from holdfast_internal.routes)) ';
  end if;
  is_meant := is_meant || concat(
    case when asked.lane is not null then format('and delivery.lane_id = %s ', asked.lane) end,
    case when asked.message_ids is not null then format('and delivery.message_id = any (%L::bigint[]) ', asked.message_ids::text) end,
    -- The delivery of a redriven letter is in the attempts, or pending.
    format('and case when delivery.is_tried then %s and (delivery.id < $2 or holdfast_internal.was_visible(delivery.row_xid, $1, $5, $6))
      else delivery.state not in (''redriven'', ''erased'') and delivery.action is distinct from ''late_success'' and pg_visible_in_snapshot(delivery.changed_xid, $1) end',
      case when wanted is null then '(delivery.outcome = 1 or delivery.outcome >= 10)'
           when wanted = 'failed' then 'delivery.outcome in (10, 12)'
           else format('delivery.outcome = %s', coalesce(holdfast_internal.outcome_code(case wanted when 'succeeded' then 'success' else wanted end), -1)) end));
  return format($query$
    with %1$s, stop as materialized (%2$s),
    every as (%3$s)
    select distinct on (delivery.id) delivery.id as position, delivery.id, coalesce(%4$s, false) as is_meant, stop.at as reached,
           delivery.message_id, %5$s as lane_id, %6$s as route_id
    from stop cross join every as delivery %7$s where stop.at is null or delivery.id <= stop.at order by delivery.id, is_meant desc
  $query$,
    (select string_agg(format('scanned_%s as materialized (%s)', each, holdfast_internal.replay_source(
       case each when 'dead' then 'dead' else 'tried' end, asked.lane, asked.message_ids, asked.from_id, asked.to_id,
       case when wanted = 'failed' then each else wanted end)), ', ')
     from unnest(sources) as each),
    -- Attempts of one delivery may lie on both sides of the limit: the next step reads it completely, unless it is the only one.
    format('select min(at) as at from (%s) as stops', (select string_agg(format(
      'select max(id) - case when %L <> ''dead'' and min(id) < max(id) then 1 else 0 end as at from scanned_%s having count(*) >= $4', each, each), ' union all ')
     from unnest(sources) as each)),
    (select string_agg(format('select * from scanned_%s', each), ' union all ') from unnest(sources) as each),
    is_meant, coalesce(target_lane::text, 'delivery.lane_id'),
    case when target_lane <> asked.lane then 'null::integer' else 'delivery.route_id' end,
    case when asked.asks_message then holdfast_internal.message_join('delivery') end);
end $$;
