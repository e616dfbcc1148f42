-- Where ended deliveries are found, as a query that returns the first $4 rows after $3, in the order of their ids: see replay_targets.
create or replace function holdfast_internal.replay_source(source text, lane integer, messages bigint[], from_id bigint, to_id bigint, wanted text) returns text
language plpgsql stable as $$
declare
  columns text := case source
    when 'tried' then 'made.delivery_id as id, made.message_id, made.lane_id, made.route_id, made.outcome, made.xmin as row_xid, true as is_tried,
      null::text as state, null::text as action, null::xid8 as changed_xid'
    else 'made.delivery_id as id, made.message_id, made.lane_id, made.route_id, made.outcome, made.xmin as row_xid, false as is_tried,
      made.state, made.action, made.changed_xid' end;
  rows_of text := case source when 'tried' then 'holdfast_internal.attempts' else 'holdfast_internal.dead_letters' end;
  ending smallint := holdfast_internal.outcome_code(case wanted when 'succeeded' then 'success' else wanted end);
  after text := format('greatest($3, %s - 1)', from_id);
begin
  if messages is not null then
    -- attempts_pkey, attempts_message; dead_letters_message.
    return format($messages$select made.* from unnest(%L::bigint[]) as wanted (id) cross join lateral (%s) as made
      where made.id > %s and made.id < %s order by made.id limit $4$messages$, messages::text,
      case source
        when 'tried' then format('(select %1$s from %2$s as made where made.delivery_id = wanted.id and made.message_id = wanted.id order by made.attempt offset 0)
          union all select %1$s from %2$s as made where made.message_id = wanted.id and made.message_id <> made.delivery_id', columns, rows_of)
        else format('select %s from %s as made where made.message_id = wanted.id offset 0', columns, rows_of) end,
      after, to_id);
  elsif lane is not null then
    -- attempts_lane (attempts_failed for those that never succeeded), dead_letters_lane_delivery. As row comparisons, so that no other index has this
    -- order.
    return format('select %1$s from %2$s as made
      where (made.lane_id, made.delivery_id) > (%3$s, %4$s) and (made.lane_id, made.delivery_id) < (%3$s, %5$s) and made.lane_id >= %3$s %6$s
      order by made.lane_id, made.delivery_id limit $4', columns, rows_of, lane, after, to_id,
      case when source = 'tried' and ending <> 1 then 'and made.outcome <> 1' end);
  elsif source = 'tried' and ending >= 10 then
    -- attempts_ended.
    return format('select %1$s from %2$s as made
      where (made.outcome, made.delivery_id) > (%3$s::smallint, %4$s) and (made.outcome, made.delivery_id) < (%3$s::smallint, %5$s) and made.outcome >= 10
      order by made.outcome, made.delivery_id limit $4', columns, rows_of, ending, after, to_id);
  end if;
  -- attempts_pkey, dead_letters_delivery_id_key.
  return format('select %s from %s as made where made.delivery_id > %s and made.delivery_id < %s order by made.delivery_id limit $4',
    columns, rows_of, after, to_id);
end $$;
