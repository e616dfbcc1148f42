-- What a replay takes up, and where it goes, as a query (position, id, message_id, lane_id, route_id): see operation_targets. With an
-- endpoint, or without a target, deliveries that have ended are sent again, each the way that it went, or to the target as it is. With a target
-- alone, messages. Replays are not replayed by a range: the original is.
create or replace function holdfast_internal.replay_targets(filter jsonb, options jsonb) returns text
language plpgsql stable as $$
declare
  asked record := holdfast_internal.delivery_conditions(filter - 'state');
  target_lane integer := case when options ? 'targetEndpoint' then holdfast_internal.lane_of(options ->> 'targetEndpoint') end;
  target_route integer := case when options ? 'targetRoute' then holdfast_internal.route_of(options ->> 'targetRoute') end;
  wanted text := filter ->> 'state';
  -- The outcome of a delivery that has ended otherwise than by its letter.
  ended text;
  sources text[] := '{}';
  place text := concat(
    case when asked.lane is not null then format('and lane_id = %s ', asked.lane) end,
    case when asked.message_ids is not null then format('and message_id = any (%L::bigint[])', asked.message_ids::text) end);
  -- Nothing but retention deletes a message: only what is older than the oldest partition has to be looked for.
  -- The ids of replays are gathered once a statement: asked for one by one they cost 20 µs a row.
  is_original text := format($condition$
    and not delivery.id <@ (
      select coalesce(range_agg(replays.ids), '{}') from holdfast_internal.replays where replays.ids && int8range(greatest($3, %1$s), %2$s, '[]')
    )
    and (delivery.message_id >= %3$s or holdfast_internal.is_stored(delivery.message_id)) $condition$,
    asked.from_id, greatest(asked.from_id, asked.to_id - 1),
    coalesce((select min(part.from_id) from holdfast_internal.partition_ranges('messages') as part), 0));
begin
  if wanted not in ('succeeded', 'dead', 'expired', 'cancelled', 'dropped', 'skipped', 'failed') then
    raise exception 'deliveries can not be replayed by the state "%"', wanted
      using errcode = 'HF007', hint = 'Known states: succeeded, dead, expired, cancelled, dropped, skipped, and failed (dead, expired or dropped).';
  end if;
  if target_route is not null and (target_lane is not null or asked.lane is not null) then
    raise exception 'a replay along a route goes to its endpoint, and takes messages, not deliveries'
      using errcode = 'HF007', hint = 'Leave out endpoint and targetEndpoint.';
  end if;
  if target_route is not null then
    return holdfast_internal.messages_to_replay(filter, (select lane_id from holdfast_internal.routes where id = target_route), target_route);
  elsif target_lane is not null and asked.lane is null then
    return holdfast_internal.messages_to_replay(filter, target_lane, null);
  end if;
  -- What has lost its endpoint or its route can't go that way again.
  if coalesce(target_lane, asked.lane) is null then
    is_original := is_original || 'and delivery.lane_id in (select id from holdfast_internal.endpoints) ';
  end if;
  if target_lane is null or target_lane = asked.lane then
    is_original := is_original || 'and (delivery.route_id is null or delivery.route_id in (select id from holdfast_internal.routes)) ';
  end if;
  foreach ended in array case
    when wanted is null then array['(outcome = 1 or outcome >= 10)']
    when wanted = 'dead' then '{}'
    when wanted = 'failed' then array['outcome = 10', 'outcome = 12']
    else array[format('outcome = %s', holdfast_internal.outcome_code(case wanted when 'succeeded' then 'success' else wanted end))] end
  loop
    -- attempts_lane or attempts_pkey; attempts_ended for the rare states.
    sources := sources || format($source$(
      select distinct on (delivery.id) delivery.id, delivery.message_id, delivery.lane_id, delivery.route_id from (
        select delivery_id as id, message_id, lane_id, route_id, xmin as row_xid from holdfast_internal.attempts
        where delivery_id > $3 and delivery_id >= %1$s and delivery_id < %2$s %3$s and %4$s
      ) as delivery %5$s
      where (delivery.id < $2 or holdfast_internal.was_visible(delivery.row_xid, $1, $5, $6)) and %6$s
      order by delivery.id limit $4)
      $source$, asked.from_id, asked.to_id, place, ended,
      case when asked.asks_message then holdfast_internal.message_join('delivery') end, asked.wide || is_original);
  end loop;
  if wanted is null or wanted in ('dead', 'failed') then
    -- A redriven letter's delivery is in the attempts, or owed. Indexes: dead_letters_lane_delivery, dead_letters_delivery_id_key.
    sources := sources || format($source$(
      select delivery.id, delivery.message_id, delivery.lane_id, delivery.route_id from (
        select delivery_id as id, message_id, lane_id, route_id from holdfast_internal.dead_letters
        where delivery_id > $3 and delivery_id >= %1$s and delivery_id < %2$s %3$s
          and state not in ('redriven', 'erased') and action is distinct from 'late_success' and pg_visible_in_snapshot(changed_xid, $1)
      ) as delivery %4$s
      where %5$s order by delivery.id limit $4)
      $source$, asked.from_id, asked.to_id, place,
      case when asked.asks_message then holdfast_internal.message_join('delivery') end, asked.wide || is_original);
  end if;
  return format('select distinct on (id) id as position, id, message_id, %2$s as lane_id, %3$s as route_id from (%1$s) as every order by id limit $4',
                array_to_string(sources, ' union all '), coalesce(target_lane::text, 'lane_id'),
                case when target_lane <> asked.lane then 'null::integer' else 'route_id' end);
end $$;
