-- Where deliveries of a state are found, as a query that returns them newest first below $1 and from $4 on, at most $3 rows. Conditions that no index
-- serves are left to the caller, so that it reads $3 rows only. If a lane or an outcome chooses the index, ranges are row comparisons, whose order no
-- other index has. A row comparison starts the scan, but only its first column ends it: hence `priority >= level` beside it.
create or replace function holdfast_internal.delivery_source(source text, lane integer, messages bigint[], ending smallint, only_failed boolean) returns text
language plpgsql immutable as $$
declare
  columns text := 'delivery_id as id, message_id, lane_id, route_id, outcome, status_code, error_code, error';
  place text;
begin
  if source = 'owed' then
    -- deliveries_message, deliveries_ready (one range for each priority) or deliveries_pkey.
    place := case
      when messages is not null then format('(select owing.* from unnest(%1$L::bigint[]) as wanted (id) cross join lateral (
          select * from holdfast_internal.deliveries where id = wanted.id and message_id = wanted.id
          union all select * from holdfast_internal.deliveries where message_id = wanted.id and message_id <> id
        ) as owing)', messages::text)
      when lane is not null then format('(select line.* from generate_series(0, 3) as level cross join lateral (
          select * from holdfast_internal.deliveries
          where lane_id = %1$s and priority >= level and (priority, id) < (level, $1) and (priority, id) >= (level, $4)
          order by priority desc, id desc limit $3
        ) as line)', lane)
      else 'holdfast_internal.deliveries' end;
    return format('select owed.id, owed.message_id, owed.lane_id, owed.route_id, null::smallint as outcome, null::smallint as status_code,
        null as error_code, null as error
      from %s as owed where owed.id < $1 and owed.id >= $4 order by owed.id desc limit $3', place);
  elsif source = 'dead' then
    -- dead_letters_message, dead_letters_lane_delivery or dead_letters_delivery_id_key.
    if messages is not null then
      return format('select letter.delivery_id as id, letter.message_id, letter.lane_id, letter.route_id, letter.outcome, letter.status_code,
        letter.error_code, letter.error, letter.action
        from unnest(%L::bigint[]) as wanted (id) cross join lateral (
          select * from holdfast_internal.dead_letters as one where one.message_id = wanted.id offset 0
        ) as letter where letter.delivery_id < $1 and letter.delivery_id >= $4 order by letter.delivery_id desc limit $3', messages::text);
    end if;
    return format('select %s, action from holdfast_internal.dead_letters ', columns) || case
      when lane is not null then format('where (lane_id, delivery_id) < (%1$s, $1) and (lane_id, delivery_id) >= (%1$s, $4) and lane_id <= %1$s
        order by lane_id desc, delivery_id desc limit $3', lane)
      else 'where delivery_id < $1 and delivery_id >= $4 order by delivery_id desc limit $3' end;
  elsif messages is not null then
    -- attempts_pkey, attempts_message.
    return format('select %1$s from (
        select made.* from unnest(%2$L::bigint[]) as wanted (id) cross join lateral (
          (select * from holdfast_internal.attempts where delivery_id = wanted.id and message_id = wanted.id order by attempt offset 0)
          union all select * from holdfast_internal.attempts where message_id = wanted.id and message_id <> delivery_id
        ) as made
      ) as tried where delivery_id < $1 and delivery_id >= $4 order by delivery_id desc limit $3', columns, messages::text);
  elsif lane is not null then
    -- attempts_failed or attempts_lane.
    return format('select %1$s from holdfast_internal.attempts
      where (lane_id, delivery_id) < (%2$s, $1) and (lane_id, delivery_id) >= (%2$s, $4) %3$s
      order by lane_id desc, delivery_id desc limit $3', columns, lane,
      case when ending <> 1 or (ending is null and only_failed) then 'and outcome <> 1' end);
  elsif ending >= 10 then
    -- attempts_ended.
    return format('select %1$s from holdfast_internal.attempts
      where (outcome, delivery_id) < (%2$s::smallint, $1) and (outcome, delivery_id) >= (%2$s::smallint, $4) and outcome >= 10
      order by outcome desc, delivery_id desc limit $3', columns, ending);
  end if;
  -- attempts_pkey.
  return format('select %s from holdfast_internal.attempts where delivery_id < $1 and delivery_id >= $4 order by delivery_id desc limit $3', columns);
end $$;
