-- Publishers call it on their own connections, whose plans may be made while the tables are empty, and cached: endpoints, types and statistics are looked
-- up one by one (`lateral … limit 1`), so that no plan reads all of them.
-- `are_checked`: the caller has validated the payloads against their types' schemas. Trusted from nodes only; payloads of others are validated before their
-- first attempt.
-- Returns a row per event, in order: its message, how many deliveries it has, and how many of them wait because their endpoint is paused,
-- disabled or rejecting.
create or replace function holdfast_internal.accept_events(
  event_types text[], bodies text[], message_options jsonb[] default null, are_checked boolean default false
) returns table (message_id bigint, deliveries integer, held integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  total integer := coalesce(cardinality(bodies), 0);
  ids bigint[];
  counts integer[];
  held_counts integer[];
  first_slots integer[];
  slots integer;
  message_ids bigint[];
  is_repeated boolean[] := array_fill(false, array[total]);
  key_scopes text[];
  keys text[];
  key_prefixes text[];
  key_results jsonb[];
  given record;
  sizes integer[];
  fan_at integer[];
  fan_place integer[];
  fan_route integer[];
  fan_lane integer[];
  fan_criticality smallint[];
  fan_variant smallint[];
  fan_refused boolean[];
  full_lanes integer[];
  rooms bigint[];
  blocking_lanes integer[];
  held_lanes integer[];
  rejecting_endpoint text;
begin
  if total = 0 then
    return;
  end if;
  perform holdfast_internal.check_events(event_types, bodies, message_options);
  are_checked := are_checked and holdfast_internal.is_trusted();

  -- The matching routes. A kind (type, tenant) is matched once, however many events of it there are; a body is parsed for filters once.
  with event as (
    select at::integer, type, coalesce(option ->> 'tenant', '') as tenant, holdfast_internal.criticality_code(option ->> 'criticality') as criticality
    from unnest(event_types, message_options) with ordinality as every (type, option, at)
  ), matched as materialized (
    select kind.type as kind_type, kind.tenant as kind_tenant, route.id, route.lane_id, route.filter,
           coalesce(route.criticality, preset.criticality, known.criticality, 1::smallint) as criticality,
           md5(coalesce(nullif(route.transform, '{"type": "none"}')::text, '')) as shape
    from (select distinct type, tenant from event) as kind
    left join lateral (select criticality from holdfast_internal.event_types where name = kind.type limit 1) as known on true
    cross join lateral holdfast_internal.matching_routes(kind.type, kind.tenant) as route
    -- Decided here and not by separate routes: these would split the events of a broad route between two routes, which result in one delivery only
    -- while their transforms are the same.
    left join lateral (
      select 2::smallint as criticality from holdfast_internal.endpoints as endpoint
      where endpoint.id = route.lane_id and endpoint.preset = 'record-store' and holdfast_internal.is_critical_learning_event(kind.type) limit 1
    ) as preset on true
  ), filtered as (
    select distinct kind_type, kind_tenant from matched where filter is not null
  ), parsed as materialized (
    select at, type, tenant, criticality, case when kind_type is not null then body::jsonb end as document
    from event left join filtered on kind_type = type and kind_tenant = tenant
    -- Bodies are copied here only if a filter needs them.
    left join (
      select body, place::integer as at from unnest(bodies) with ordinality as given (body, place) where (select count(*) from filtered) > 0
    ) as given using (at)
  ), fan as (
    -- Two routes to the same endpoint with the same transform result in one delivery, with the higher criticality.
    select distinct on (parsed.at, matched.lane_id, matched.shape)
      parsed.at, matched.id as route, matched.lane_id as lane,
      coalesce(parsed.criticality, matched.criticality) as criticality
    -- Equality, also for events without a tenant: a join that can't hash compares every event with every kind, which for 500 events of 500
    -- tenants took 70 ms.
    from parsed join matched on kind_type = parsed.type and kind_tenant = parsed.tenant
    -- The _tz function: without it a filter that compares a time with a zone to one without raises an error, and stops the publisher.
    where matched.filter is null or coalesce(jsonb_path_match_tz(parsed.document, matched.filter, '{}', true), false)
    order by parsed.at, matched.lane_id, matched.shape, matched.criticality desc, matched.id
  ), placed as (
    select *, row_number() over (partition by at order by route) as place,
           row_number() over (partition by at, lane order by route) - 1 as variant
    from fan
  )
  select array_agg(at), array_agg(place), array_agg(route), array_agg(lane), array_agg(criticality), array_agg(variant)
  into fan_at, fan_place, fan_route, fan_lane, fan_criticality, fan_variant
  from placed;

  perform holdfast_internal.check_bound(coalesce(cardinality(fan_at), 0));
  select array_agg(lane) filter (where is_full), array_agg(greatest(0, bound - pending)) filter (where is_full),
         min(name) filter (where is_full and settings #>> '{limits,onFull}' = 'reject'),
         coalesce(array_agg(lane) filter (where is_full and settings ->> 'onDead' = 'block'), '{}'),
         coalesce(array_agg(lane) filter (where state <> 'active'), '{}')
  into full_lanes, rooms, rejecting_endpoint, blocking_lanes, held_lanes
  from (
    select wanted.lane, endpoint.name, endpoint.state, endpoint.settings, coalesce(stats.pending, 0) as pending, endpoint.bound,
           coalesce(stats.pending, 0) + wanted.added > endpoint.bound as is_full
    from (select lane, count(*) as added from unnest(fan_lane) as lane group by lane) as wanted
    cross join lateral (
      select name, state, settings, (settings #>> '{limits,maxPending}')::bigint as bound from holdfast_internal.endpoints where id = wanted.lane limit 1
    ) as endpoint
    left join lateral (select pending from holdfast_internal.lane_stats where lane_id = wanted.lane limit 1) as stats on true
  ) as every;
  if rejecting_endpoint is not null then
    raise exception 'endpoint "%" is full', rejecting_endpoint
      using errcode = '53400', hint = 'Publish again later, raise limits.maxPending, or set limits.onFull to dead_letter.';
  end if;
  -- Deliveries within the limit are stored; the rest become dead letters at once.
  if full_lanes is not null then
    select array_agg(coalesce(number > room, false) order by place) into fan_refused
    from (
      select place, lane, row_number() over (partition by lane order by at, place) as number
      from unnest(fan_at, fan_lane) with ordinality as fan (at, lane, place)
    ) as fan
    left join unnest(full_lanes, rooms) as full_lane (lane, room) using (lane);
  end if;
  select array_agg(coalesce(fan.deliveries, 0) order by event.at), array_agg(coalesce(fan.held, 0) order by event.at)
  into counts, held_counts
  from generate_series(1, total) as event (at)
  left join (
    select every.at, count(*) as deliveries, count(held.lane) filter (where is_refused is not true) as held
    from unnest(fan_at, fan_lane, fan_refused) as every (at, lane, is_refused) left join unnest(held_lanes) as held (lane) using (lane)
    group by every.at
  ) as fan using (at);

  -- The transaction id comes before the ids: see accept.
  perform pg_current_xact_id();
  perform holdfast_internal.commit_durably();
  perform holdfast_internal.prepare_ids();
  -- Ids in the order of events: a message and its first delivery share one, its other deliveries follow before the next event.
  select array_agg(1 + before order by at), max(before + needed) into first_slots, slots
  from (
    select at, greatest(1, count) as needed,
           coalesce(sum(greatest(1, count)) over (order by at rows between unbounded preceding and 1 preceding), 0) as before
    from unnest(counts) with ordinality as event (count, at)
  ) as numbered;
  select array_agg(nextval('holdfast_internal.ids')) into ids from generate_series(1, slots);
  message_ids := array(select ids[slot] from unnest(first_slots) as slot);

  keys := array(select option ->> 'idempotencyKey' from unnest(message_options) with ordinality as every (option, at) order by at);
  if array_remove(keys, null) <> '{}' then
    select array_agg('event:' || coalesce(option ->> 'tenant', '') order by at), array_agg(type || ' ' order by at),
           array_agg(jsonb_build_array(event.id, event.count, event.held) order by at)
    into key_scopes, key_prefixes, key_results
    from unnest(event_types, message_options, message_ids, counts, held_counts) with ordinality as event (type, option, id, count, held, at);
    for given in select * from holdfast_internal.claim_idempotency_keys(key_scopes, keys, key_prefixes, bodies, key_results) loop
      message_ids[given.at] := given.earlier[1];
      counts[given.at] := given.earlier[2];
      held_counts[given.at] := given.earlier[3];
      is_repeated[given.at] := true;
    end loop;
  end if;

  insert into holdfast_internal.messages (id, size, type, tenant, correlation_id, ordering_key, criticality, headers, metadata, is_unrouted, needs_check, body)
  select event.id, octet_length(body), type, option ->> 'tenant', option ->> 'correlationId', option ->> 'orderingKey',
         coalesce(holdfast_internal.criticality_code(option ->> 'criticality'), 1), option -> 'headers', option -> 'metadata', count = 0,
         not are_checked and coalesce((select known.schema is not null from holdfast_internal.event_types as known where known.name = event.type limit 1), false),
         body::json
  from unnest(message_ids, event_types, bodies, message_options, is_repeated, counts) as event (id, type, body, option, is_known, count)
  where not is_known;

  -- Without the bodies, which the join would copy.
  select array_agg(octet_length(body)) into sizes from (select unnest(bodies) as body) as given;
  with owed as (
    select ids[first_slots[fan.at] + place - 1] as id, event.id as message, event.size, event.option, fan.*
    from unnest(fan_at, fan_place, fan_route, fan_lane, fan_criticality, fan_variant, fan_refused)
      as fan (at, place, route, lane, criticality, variant, is_refused)
    join unnest(message_ids, sizes, message_options, is_repeated) with ordinality as event (id, size, option, is_known, at) on event.at = fan.at
    where not is_known
  ), refused as (
    insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, route_id, reason, outcome, error_code, error, criticality,
                                       priority, variant, attempt, attempts, ordering_key, blocks_key)
    select nextval('holdfast_internal.ids'), owed.id, owed.message, owed.lane, owed.route, 'endpoint_full', 3, 'endpoint_full',
           'The endpoint owed as many deliveries as its bound allows.', owed.criticality,
           coalesce((option ->> 'priority')::smallint, 0), owed.variant, 0, '[]', option ->> 'orderingKey',
           owed.lane = any (blocking_lanes) and option ->> 'orderingKey' is not null
    from owed where is_refused
  )
  insert into holdfast_internal.deliveries (id, message_id, lane_id, route_id, size, priority, criticality, variant, due_at, owed_at, expires_at, ordering_key)
  select owed.id, owed.message, owed.lane, owed.route, owed.size, coalesce((option ->> 'priority')::smallint, 0), owed.criticality,
         owed.variant, nullif(greatest((option ->> 'deliverAt')::timestamptz, now()), now()),
         greatest((option ->> 'deliverAt')::timestamptz, case when option ->> 'deliverAt' is not null then now() end),
         (option ->> 'expiresAt')::timestamptz, option ->> 'orderingKey'
  from owed where is_refused is not true;

  perform holdfast_internal.ring(array(select distinct unnest(fan_lane)));
  return query select * from unnest(message_ids, counts, held_counts);
end $$;
