-- Where deliveries of a state are found, as a query that yields them newest first from $1 (exclusive) down to $4, at most $3.
create or replace function holdfast_internal.delivery_source(source text, lane integer, messages bigint[], ending smallint, asks_error boolean) returns text
language plpgsql immutable as $$
declare
  columns text;
  place text;
begin
  if source = 'owed' then
    columns := format('owed.id, owed.message_id, owed.lane_id, owed.route_id, %s', case when asks_error
      then 'tried.status_code, tried.error_code, tried.error' else 'null::smallint as status_code, null as error_code, null as error' end);
    -- deliveries_message, deliveries_ready (one range for each priority) or deliveries_pkey.
    place := case
      when messages is not null then format('(select * from holdfast_internal.deliveries where id = any (%1$L::bigint[]) and message_id = id
        union all select * from holdfast_internal.deliveries where message_id = any (%1$L::bigint[]) and message_id <> id)', messages::text)
      when lane is not null then format('(select line.* from generate_series(0, 3) as level cross join lateral (
          select * from holdfast_internal.deliveries where lane_id = %s and (priority, id) < (level, $1) and (priority, id) >= (level, $4)
          order by priority desc, id desc limit $3
        ) as line)', lane)
      else 'holdfast_internal.deliveries' end;
    return format('select %s from %s as owed %s where owed.id < $1 and owed.id >= $4 %s order by owed.id desc limit $3',
      columns, place,
      case when asks_error then 'left join lateral (select status_code, error_code, error from holdfast_internal.attempts
        where delivery_id = owed.id order by attempt desc limit 1) as tried on true' end,
      case when lane is not null then format('and owed.lane_id = %s', lane) end);
  end if;
  if source = 'dead' then
    -- dead_letters_message, dead_letters_lane_delivery or dead_letters_delivery_id_key.
    return format('select delivery_id as id, message_id, lane_id, route_id, status_code, error_code, error from holdfast_internal.dead_letters
      where delivery_id < $1 and delivery_id >= $4 and action is distinct from ''late_success'' %s %s order by delivery_id desc limit $3',
      case when lane is not null then format('and lane_id = %s', lane) end,
      case when messages is not null then format('and message_id = any (%L::bigint[])', messages::text) end);
  end if;
  -- attempts_message, attempts_ended, attempts_failed, attempts_lane or attempts_pkey.
  place := case
    when messages is not null then format('(select * from holdfast_internal.attempts where delivery_id = any (%1$L::bigint[]) and message_id = delivery_id
      union all select * from holdfast_internal.attempts where message_id = any (%1$L::bigint[]) and message_id <> delivery_id)', messages::text)
    else 'holdfast_internal.attempts' end;
  return format('select delivery_id as id, message_id, lane_id, route_id, status_code, error_code, error from %s as tried
    where delivery_id < $1 and delivery_id >= $4 %s %s order by delivery_id desc limit $3',
    place, case when lane is not null then format('and lane_id = %s', lane) end,
    case when ending is not null then format('and outcome = %s', ending)
         when asks_error then 'and outcome <> 1' end);
end $$;
