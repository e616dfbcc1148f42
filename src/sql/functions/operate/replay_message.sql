-- Sends one message again: to a target unchanged, along a route (regardless of its filter), or along every route that it took. Also takes a delivery's
-- id. Returns the new deliveries.
create or replace function holdfast.replay_message(
  id text, target_endpoint text default null, actor text default current_user, target_route text default null
) returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  way holdfast_internal.routes;
  message bigint;
  only_delivery bigint := case when replay_message.id like 'dlv\_%' then holdfast.parse_id('dlv', replay_message.id) end;
  ways text;
  new_ids bigint[];
begin
  if only_delivery is not null then
    select tried.message_id into message from (
      select message_id from holdfast_internal.attempts where delivery_id = only_delivery
      union all select message_id from holdfast_internal.dead_letters where delivery_id = only_delivery limit 1
    ) as tried;
    if message is null then
      raise exception 'there is no delivery % that has ended', id using errcode = 'HF012';
    end if;
  else
    message := holdfast_internal.original_message(holdfast.parse_id('msg', id));
  end if;
  if exists (select from holdfast_internal.messages as stored where stored.id = message and stored.erased_at is not null)
    or exists (select from holdfast_internal.messages_kept as kept where kept.id = message and kept.erased_at is not null) then
    raise exception 'message % has been erased, so it cannot be sent', id using errcode = 'HF013';
  end if;
  if not holdfast_internal.is_stored(message) then
    raise exception 'there is no message %', id using errcode = 'HF012';
  end if;
  -- One for each endpoint and route that the message took: redrives and replays along the same route add none.
  ways := format($ways$
    select min(ended.delivery) as position, min(ended.delivery) as id, true as is_meant, null::bigint as reached, %1$s::bigint as message_id, ended.lane_id, ended.route_id from (
      select delivery_id as delivery, lane_id, route_id from holdfast_internal.attempts where delivery_id = %1$s and message_id = %1$s
      union all select delivery_id, lane_id, route_id from holdfast_internal.attempts where message_id = %1$s and message_id <> delivery_id
      union all select delivery_id, lane_id, route_id from holdfast_internal.dead_letters where message_id = %1$s
    ) as ended where %2$s and (ended.route_id is null or ended.route_id in (select routes.id from holdfast_internal.routes)) group by ended.lane_id, ended.route_id
    order by 1 limit $4
    $ways$, message, case when only_delivery is null then 'true' else format('ended.delivery = %s', only_delivery) end);
  if target_endpoint is not null and target_route is not null then
    raise exception 'a replay goes to an endpoint or along a route, not both' using errcode = 'HF007';
  elsif target_endpoint is not null or target_route is not null then
    if target_route is not null then
      select * into way from holdfast_internal.routes where routes.id = holdfast_internal.route_of(target_route);
    end if;
    ways := format('select %1$s::bigint as position, %1$s::bigint as id, true as is_meant, null::bigint as reached, %1$s::bigint as message_id,
                   %2$s as lane_id, %3$s::integer as route_id',
                   message, coalesce(way.lane_id, holdfast_internal.lane_of(target_endpoint)), coalesce(way.id::text, 'null'));
  end if;
  select replayed.delivery_ids into new_ids
  from holdfast_internal.replay_rows(null, ways, pg_current_snapshot(), now(), 0, 10000, 10000) as replayed;
  if cardinality(new_ids) = 0 then
    raise exception '% has no destination: no route matched it, or its endpoints have been deleted', id using errcode = 'HF007', hint = 'Give the endpoint or the route to replay it to.';
  end if;
  perform holdfast_internal.audit(actor, 'message.replayed', id, jsonb_strip_nulls(jsonb_build_object(
    'deliveries', cardinality(new_ids), 'target', target_endpoint, 'route', target_route)));
  return query select holdfast.format_id('dlv', new_id) from unnest(new_ids) as new_id;
end $$;
