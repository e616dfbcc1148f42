-- The messages of a range, each once: to an endpoint unchanged, or along a route, as if it had existed when they were published. See
-- replay_targets. Index: messages_pkey of the partitions in the range.
create or replace function holdfast_internal.messages_to_replay(filter jsonb, target_lane integer, target_route integer) returns text
language plpgsql stable as $$
declare
  asked record := holdfast_internal.delivery_conditions(filter);
begin
  if filter ?| array['state', 'route'] then
    raise exception 'a replay of messages to one endpoint, or along a route, cannot be filtered by state or route'
      using errcode = 'HF007', hint = 'Give the endpoint whose deliveries to replay, or leave these out.';
  end if;
  return format($query$
    with scanned as materialized (
      select message.*, message.xmin as row_xid from %5$s as message
      where message.id > greatest($3, %1$s - 1) and message.id < %2$s order by message.id limit $4
    )
    select message.id as position, message.id,
           coalesce((%3$s) and not message.is_run and message.erased_at is null and (message.id < $2 or holdfast_internal.was_visible(message.row_xid, $1, $5, $6)) %7$s, false) as is_meant,
           (select max(id) from scanned having count(*) >= $4) as reached,
           message.id as message_id, %4$s as lane_id, %6$s::integer as route_id
    from scanned as message %8$s order by message.id
  $query$, asked.from_id, asked.to_id, asked.wide, target_lane,
    case when asked.message_ids is null then 'holdfast_internal.messages' else format(
      '(select one.* from unnest(%L::bigint[]) as wanted (id) cross join lateral (select messages.*, messages.xmin from holdfast_internal.messages where id = wanted.id offset 0) as one)',
      asked.message_ids::text) end,
    coalesce(target_route::text, 'null'),
    case when target_route is not null then $meets$
      and coalesce(route.tenant, '') = coalesce(message.tenant, '')
      and (message.type = route.exact_type or message.type ~ route.regex
        or (message.type like route.like_pattern
          and (route.segments is null or route.segments = length(message.type) - length(replace(message.type, '.', '')) + 1)))
      and (route.filter is null or holdfast_internal.meets_filter(message.body, route.filter)) $meets$ end,
    case when target_route is not null then format('join holdfast_internal.routes as route on route.id = %s', target_route) end);
end $$;
