-- The messages of a range, each once: to an endpoint as they are, or along a route, as though it had been there when they were published.
create or replace function holdfast_internal.messages_to_replay(filter jsonb, target_lane integer, target_route integer) returns text
language plpgsql stable as $$
declare
  asked record := holdfast_internal.delivery_conditions(filter);
begin
  if filter ?| array['state', 'route'] then
    raise exception 'a replay of messages to one endpoint, or along a route, knows neither state nor route'
      using errcode = 'HF007', hint = 'Give the endpoint whose deliveries to replay, or leave these out.';
  end if;
  -- messages_pkey of the partitions in the range.
  return format($query$
    select message.id as position, message.id, message.id as message_id, %5$s as lane_id, %6$s::integer as route_id
    from holdfast_internal.messages as message %7$s
    where message.id > $3 and message.id >= %1$s and message.id < %2$s and %3$s %4$s and not message.is_run and message.erased_at is null
      and (message.id < $2 or holdfast_internal.was_visible(message.xmin, $1, $5, $6)) %8$s
    order by message.id limit $4
  $query$, asked.from_id, asked.to_id, asked.wide,
    case when asked.message_ids is not null then format('and message.id = any (%L::bigint[])', asked.message_ids::text) end,
    target_lane, coalesce(target_route::text, 'null'),
    case when target_route is not null then format($route$
      join holdfast_internal.routes as route on route.id = %s and coalesce(route.tenant, '') = coalesce(message.tenant, '')
        and (message.type = route.exact_type or message.type ~ route.regex
          or (message.type like route.like_pattern
            and (route.segments is null or route.segments = length(message.type) - length(replace(message.type, '.', '')) + 1)))
      $route$, target_route) end,
    case when target_route is not null then 'and (route.filter is null or holdfast_internal.meets_filter(message.body, route.filter))' end);
end $$;
