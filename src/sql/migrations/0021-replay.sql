-- Replay: what was sent once is sent again.

-- Whether a route's filter lets a body through. A body that PostgreSQL can't look into (a number beyond all bounds) is let through by none.
create function holdfast.meets_filter(body json, filter jsonpath) returns boolean
language plpgsql stable as $$
begin
  return coalesce(jsonb_path_match_tz(body::jsonb, filter, '{}', true), false);
exception when data_exception or program_limit_exceeded then
  return false;
end $$;

-- The messages of a range, each once: to an endpoint as they are, or along a route, as though it had been there when they were published.
create function holdfast.messages_to_replay(filter jsonb, target_lane integer, target_route integer) returns text
language plpgsql stable as $$
declare
  asked record := holdfast.delivery_conditions(filter);
begin
  if filter ?| array['state', 'route'] then
    raise exception 'a replay of messages to one endpoint, or along a route, knows neither state nor route'
      using errcode = 'HF007', hint = 'Give the endpoint whose deliveries to replay, or leave these out.';
  end if;
  -- messages_pkey of the partitions in the range.
  return format($query$
    select message.id as position, message.id, message.id as message_id, %5$s as lane_id, %6$s::integer as route_id
    from holdfast.messages as message %7$s
    where message.id > $3 and message.id >= %1$s and message.id < %2$s and %3$s %4$s and not message.is_run
      and (message.id < $2 or holdfast.was_visible(message.xmin, $1, $5, $6)) %8$s
    order by message.id limit $4
  $query$, asked.from_id, asked.to_id, asked.wide,
    case when asked.message_ids is not null then format('and message.id = any (%L::bigint[])', asked.message_ids::text) end,
    target_lane, coalesce(target_route::text, 'null'),
    case when target_route is not null then format($route$
      join holdfast.routes as route on route.id = %s and coalesce(route.tenant, '') = coalesce(message.tenant, '')
        and (message.type = route.exact_type or message.type ~ route.regex
          or (message.type like route.like_pattern
            and (route.segments is null or route.segments = length(message.type) - length(replace(message.type, '.', '')) + 1)))
      $route$, target_route) end,
    case when target_route is not null then 'and (route.filter is null or holdfast.meets_filter(message.body, route.filter))' end);
end $$;

-- What a replay takes up, and where it goes, as a query (position, id, message_id, lane_id, route_id): see operation_targets. With an
-- endpoint, or without a target, deliveries that have ended are sent again, each the way that it went, or to the target as it is. With a target
-- alone, messages. Replays are not replayed by a range: the original is.
create function holdfast.replay_targets(filter jsonb, options jsonb) returns text
language plpgsql stable as $$
declare
  asked record := holdfast.delivery_conditions(filter - 'state');
  target_lane integer := case when options ? 'targetEndpoint' then holdfast.lane_of(options ->> 'targetEndpoint') end;
  target_route integer := case when options ? 'targetRoute' then holdfast.route_of(options ->> 'targetRoute') end;
  wanted text := filter ->> 'state';
  sources text[] := '{}';
  place text := concat(
    case when asked.lane is not null then format('and lane_id = %s ', asked.lane) end,
    case when asked.message_ids is not null then format('and message_id = any (%L::bigint[])', asked.message_ids::text) end);
  -- Nothing but retention deletes a message: only what is older than the oldest partition has to be looked for.
  -- The ids of replays are gathered once a statement: asked for one by one they cost 20 µs a row.
  is_original text := format($condition$
    and not delivery.id <@ (
      select coalesce(range_agg(replays.ids), '{}') from holdfast.replays where replays.ids && int8range(greatest($3, %1$s), %2$s, '[]')
    )
    and (delivery.message_id >= %3$s or holdfast.is_stored(delivery.message_id)) $condition$,
    asked.from_id, greatest(asked.from_id, asked.to_id - 1),
    coalesce((select min(part.from_id) from holdfast.partition_ranges('messages') as part), 0));
begin
  if target_route is not null and (target_lane is not null or asked.lane is not null) then
    raise exception 'a replay along a route goes to its endpoint, and takes messages, not deliveries'
      using errcode = 'HF007', hint = 'Leave out endpoint and targetEndpoint.';
  end if;
  if target_route is not null then
    return holdfast.messages_to_replay(filter, (select lane_id from holdfast.routes where id = target_route), target_route);
  elsif target_lane is not null and asked.lane is null then
    return holdfast.messages_to_replay(filter, target_lane, null);
  end if;
  -- What has lost its endpoint or its route can't go that way again.
  if coalesce(target_lane, asked.lane) is null then
    is_original := is_original || 'and delivery.lane_id in (select id from holdfast.endpoints) ';
  end if;
  if target_lane is null or target_lane = asked.lane then
    is_original := is_original || 'and (delivery.route_id is null or delivery.route_id in (select id from holdfast.routes)) ';
  end if;
  if wanted is null or wanted <> 'dead' then
    -- attempts_lane or attempts_pkey; attempts_ended for the rare states.
    sources := sources || format($source$(
      select distinct on (delivery.id) delivery.id, delivery.message_id, delivery.lane_id, delivery.route_id from (
        select delivery_id as id, message_id, lane_id, route_id, xmin as row_xid from holdfast.attempts
        where delivery_id > $3 and delivery_id >= %1$s and delivery_id < %2$s %3$s and %4$s
      ) as delivery %5$s
      where (delivery.id < $2 or holdfast.was_visible(delivery.row_xid, $1, $5, $6)) and %6$s
      order by delivery.id limit $4)
      $source$, asked.from_id, asked.to_id, place,
      case when wanted is null then '(outcome = 1 or outcome >= 10)'
           else format('outcome = %s', coalesce(holdfast.outcome_code(case wanted when 'succeeded' then 'success' else wanted end), -1)) end,
      case when asked.asks_message then holdfast.message_join('delivery') end, asked.wide || is_original);
  end if;
  if wanted is null or wanted = 'dead' then
    -- A redriven letter's delivery is in the attempts, or owed. Indexes: dead_letters_lane_delivery, dead_letters_delivery_id_key.
    sources := sources || format($source$(
      select delivery.id, delivery.message_id, delivery.lane_id, delivery.route_id from (
        select delivery_id as id, message_id, lane_id, route_id from holdfast.dead_letters
        where delivery_id > $3 and delivery_id >= %1$s and delivery_id < %2$s %3$s
          and state <> 'redriven' and action is distinct from 'late_success' and pg_visible_in_snapshot(changed_xid, $1)
      ) as delivery %4$s
      where %5$s order by delivery.id limit $4)
      $source$, asked.from_id, asked.to_id, place,
      case when asked.asks_message then holdfast.message_join('delivery') end, asked.wide || is_original);
  end if;
  return format('select distinct on (id) id as position, id, message_id, %2$s as lane_id, %3$s as route_id from (%1$s) as every order by id limit $4',
                array_to_string(sources, ' union all '), coalesce(target_lane::text, 'lane_id'),
                case when target_lane <> asked.lane then 'null::integer' else 'route_id' end);
end $$;

-- What a delivery takes over from its message, as a query ($1 the ids, from $2 to $3). Neighbours are read as one range of the primary key,
-- which costs a fraction of one by one.
create function holdfast.envelopes_of(message_ids bigint[], low bigint, high bigint) returns text
language plpgsql stable as $$
declare
  columns text := 'id, size, type, ordering_key, criticality';
  few bigint := 2 * cardinality(message_ids);
  is_dense boolean := high - low < few or (
    select count(*) from (select from holdfast.messages where id >= low and id <= high limit few + 1) as those
  ) <= few;
begin
  return concat(
    format('select %s from holdfast.messages where ', columns),
    case when is_dense then 'id >= $2 and id <= $3' else 'id = any ($1)' end,
    case when exists (select from holdfast.messages_kept where id >= low and id <= high) then format($kept$
      union all select %s from holdfast.messages_kept as kept
      where id = any ($1) and not exists (select from holdfast.messages as message where message.id = kept.id)
    $kept$, columns) end);
end $$;

-- Owes what `source` yields (see replay_targets) once more, in its order, under ids of their own. No body is written, but for those whose
-- partition is about to go. What has lost its endpoint since is passed over. Somebody wants it: it isn't dropped silently.
create function holdfast.replay_rows(
  operation bigint, source text, as_of pg_snapshot, as_of_at timestamptz, after bigint, max_rows integer,
  out looked_at integer, out last_position bigint, out delivery_ids bigint[]
)
language plpgsql as $$
declare
  message_ids bigint[];
  target_lanes integer[];
  target_routes integer[];
  low bigint;
  high bigint;
  stored integer;
begin
  -- Until this transaction ends no partition can be marked to go; those that are marked are seen below.
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.retire'));
  -- The transaction id comes before the ids: see accept_messages.
  perform pg_current_xact_id();
  if holdfast.id_at(clock_timestamp()) - (select last_value from holdfast.ids) > 4096 * 5000 then
    perform holdfast.advance_ids();
  end if;
  execute format($statement$
    select count(*), max(position), array_agg(message_id order by position) filter (where endpoint.id is not null),
           array_agg(lane_id order by position) filter (where endpoint.id is not null),
           array_agg(route_id order by position) filter (where endpoint.id is not null), min(message_id), max(message_id)
    from (%s) as target left join (select id from holdfast.endpoints) as endpoint on endpoint.id = target.lane_id
  $statement$, source)
  into looked_at, last_position, message_ids, target_lanes, target_routes, low, high
  using as_of, holdfast.id_at(as_of_at - interval '1 day'), after, max_rows::bigint, pg_snapshot_xmax(as_of)::text::bigint,
        age(pg_snapshot_xmin(as_of)::xid);
  delivery_ids := '{}';
  if message_ids is null then
    return;
  end if;
  perform holdfast.keep_bodies(message_ids);
  delivery_ids := array(select nextval('holdfast.ids') from generate_series(1, cardinality(message_ids)));
  execute format($statement$
    insert into holdfast.deliveries (id, message_id, lane_id, route_id, size, criticality, replay_id, ordering_key)
    select target.id, target.message_id, target.lane_id, target.route_id, message.size,
           greatest(1, coalesce(
             nullif(message.criticality, 1),
             case when target.route_id is not null then (select route.criticality from holdfast.routes as route where route.id = target.route_id) end,
             known.criticality)),
           target.id, message.ordering_key
    from unnest($4, $1, $5, $6) as target (id, message_id, lane_id, route_id)
    join (%s) as message on message.id = target.message_id
    left join holdfast.event_types as known on known.name = message.type
    order by target.id
  $statement$, holdfast.envelopes_of(message_ids, low, high))
  using message_ids, low, high, delivery_ids, target_lanes, target_routes;
  get diagnostics stored = row_count;
  if stored < cardinality(delivery_ids) then
    delivery_ids := array(select id from holdfast.deliveries where id = any (delivery_ids) order by id);
  end if;
  if stored > 0 then
    insert into holdfast.replays (ids, operation_id) values (holdfast.id_ranges(delivery_ids), operation);
  end if;
  perform holdfast.ring(array(select distinct unnest(target_lanes)));
end $$;

-- One message, once more: to a target as it is, along a route (whatever its filter says), or every way that it went. Also takes a delivery's
-- id. Returns the new deliveries.
create function holdfast.replay_message(
  id text, target_endpoint text default null, actor text default current_user, target_route text default null
) returns setof text
language plpgsql as $$
declare
  way holdfast.routes;
  message bigint;
  only_delivery bigint := case when replay_message.id like 'dlv\_%' then holdfast.parse_id('dlv', replay_message.id) end;
  ways text;
  new_ids bigint[];
begin
  if only_delivery is not null then
    select tried.message_id into message from (
      select message_id from holdfast.attempts where delivery_id = only_delivery
      union all select message_id from holdfast.dead_letters where delivery_id = only_delivery limit 1
    ) as tried;
    if message is null then
      raise exception 'no delivery % has ended', id using errcode = 'HF012';
    end if;
  else
    message := holdfast.original_message(holdfast.parse_id('msg', id));
  end if;
  if not holdfast.is_stored(message) then
    raise exception 'there is no message %', id using errcode = 'HF012';
  end if;
  -- One for each way that it took: a redrive went the way of its letter, and a replay that of its original.
  ways := format($ways$
    select min(ended.delivery) as position, min(ended.delivery) as id, %1$s::bigint as message_id, ended.lane_id, ended.route_id from (
      select delivery_id as delivery, lane_id, route_id from holdfast.attempts where delivery_id = %1$s and message_id = %1$s
      union all select delivery_id, lane_id, route_id from holdfast.attempts where message_id = %1$s and message_id <> delivery_id
      union all select delivery_id, lane_id, route_id from holdfast.dead_letters where message_id = %1$s
    ) as ended where %2$s and (ended.route_id is null or ended.route_id in (select routes.id from holdfast.routes)) group by ended.lane_id, ended.route_id
    order by 1 limit $4
    $ways$, message, case when only_delivery is null then 'true' else format('ended.delivery = %s', only_delivery) end);
  if target_endpoint is not null and target_route is not null then
    raise exception 'a replay goes to an endpoint or along a route, not both' using errcode = 'HF007';
  elsif target_endpoint is not null or target_route is not null then
    if target_route is not null then
      select * into way from holdfast.routes where routes.id = holdfast.route_of(target_route);
    end if;
    ways := format('select %1$s::bigint as position, %1$s::bigint as id, %1$s::bigint as message_id, %2$s as lane_id, %3$s::integer as route_id',
                   message, coalesce(way.lane_id, holdfast.lane_of(target_endpoint)), coalesce(way.id::text, 'null'));
  end if;
  select replayed.delivery_ids into new_ids
  from holdfast.replay_rows(null, ways, pg_current_snapshot(), now(), 0, 10000) as replayed;
  if cardinality(new_ids) = 0 then
    raise exception '% went nowhere, or where it went is gone', id using errcode = 'HF007', hint = 'Say to which endpoint or along which route it shall go.';
  end if;
  perform holdfast.audit(actor, 'message.replayed', id, jsonb_strip_nulls(jsonb_build_object(
    'deliveries', cardinality(new_ids), 'target', target_endpoint, 'route', target_route)));
  return query select holdfast.format_id('dlv', new_id) from unnest(new_ids) as new_id;
end $$;

create function holdfast.replay_range(
  endpoint text, from_ts timestamptz, to_ts timestamptz, state text default null, target_endpoint text default null,
  rate double precision default null, actor text default current_user, target_route text default null
) returns text
language sql as $$
  select holdfast.format_id('op', holdfast.create_operation('replay',
    jsonb_strip_nulls(jsonb_build_object('endpoint', endpoint, 'from', from_ts, 'to', to_ts, 'state', state)),
    jsonb_strip_nulls(jsonb_build_object('targetEndpoint', target_endpoint, 'targetRoute', target_route)), rate, null, actor))
$$;
