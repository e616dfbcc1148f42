-- What an operation of this kind would touch, as a query: (position, id), with $1 the snapshot, $2 an id so old that it was surely seen then, $3 the
-- cursor, $4 how many at most (null: all), $5 the snapshot's xmax, $6 the age of its xmin. A replay's has more columns: see replay_targets.
create or replace function holdfast_internal.operation_targets(kind text, filter jsonb, options jsonb) returns text
language plpgsql stable as $$
declare
  letters record;
  owed record;
begin
  if kind in ('redrive', 'resolve', 'discard') then
    letters := holdfast_internal.letter_conditions(filter || '{"state": "open"}');
    -- dead_letters_lane_delivery, or dead_letters_open. As pairs, so that no other index has this order.
    return format($query$
      select letter.delivery_id as position, letter.id from holdfast_internal.dead_letters as letter %s
      where %s and %s and pg_visible_in_snapshot(letter.changed_xid, $1)
      order by %s letter.delivery_id limit $4
    $query$, case when letters.asks_message then holdfast_internal.message_join('letter') end,
      case when letters.lane is null then 'letter.delivery_id > $3' else format(
        '(letter.lane_id, letter.delivery_id) > (%1$s, $3) and (letter.lane_id, letter.delivery_id) < (%1$s + 1, 0)', letters.lane) end,
      letters.everything, case when letters.lane is not null then 'letter.lane_id,' end);
  elsif kind in ('retry', 'cancel') then
    owed := holdfast_internal.delivery_conditions(filter - 'state');
    -- deliveries_pkey, deliveries_message, or a range of deliveries_ready for each priority; the last error is asked only of what meets the rest.
    return format($query$
      select delivery.id as position, delivery.id from (
        select owed.*, tried.status_code, tried.error_code, tried.error from (
          select * from %s as owing where id > $3 and id >= %s and id < %s %s %s
        ) as owed %s
      ) as delivery %s
      where %s and %s
      order by delivery.id limit $4
    $query$, case when owed.lane is null then '(select deliveries.*, deliveries.xmin as row_xid from holdfast_internal.deliveries)' else format($lane$(
        select line.* from generate_series(0, 3) as level cross join lateral (
          select deliveries.*, deliveries.xmin as row_xid from holdfast_internal.deliveries
          where lane_id = %1$s and priority <= level and (priority, id) > (level, $3)
          order by priority, id %2$s
        ) as line)$lane$, owed.lane,
        -- All that a lane owes and nothing else: the first of each priority are enough.
        case when filter - 'endpoint' - 'laneId' - 'state' = '{}' and kind = 'cancel' then 'limit $4' end) end,
      owed.from_id, owed.to_id,
      case when owed.message_ids is not null then format('and message_id = any (%L::bigint[])', owed.message_ids::text) end,
      case when kind = 'retry' then 'and due_at > now()' end,
      case when filter ?| array['error', 'errorCode', 'statusCode']
        then 'left join lateral (select status_code, error_code, error from holdfast_internal.attempts where delivery_id = owed.id order by attempt desc limit 1) as tried on true'
        else 'cross join (select null::smallint as status_code, null::text as error_code, null::text as error) as tried' end,
      case when owed.asks_message then holdfast_internal.message_join('delivery') end, owed.wide,
      -- What a deleted endpoint owes goes, whoever wrote it and when.
      case when filter ? 'laneId' then 'true' else 'holdfast_internal.was_visible(delivery.row_xid, $1, $5, $6)' end);
  end if;
  return holdfast_internal.replay_targets(filter, options);
end $$;
