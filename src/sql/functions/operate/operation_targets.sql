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
    -- dead_letters_lane_delivery, or dead_letters_open.
    return format($query$
      select letter.delivery_id as position, letter.id from holdfast_internal.dead_letters as letter %s
      where letter.delivery_id > $3 and %s and %s and pg_visible_in_snapshot(letter.changed_xid, $1)
      order by letter.delivery_id limit $4
    $query$, case when letters.asks_message then holdfast_internal.message_join('letter') end, letters.narrow, letters.wide);
  elsif kind in ('retry', 'cancel') then
    owed := holdfast_internal.delivery_conditions(filter - 'state');
    -- deliveries_pkey, deliveries_message, or deliveries_ready for a count; the last error is asked only of what meets the rest.
    return format($query$
      select delivery.id as position, delivery.id from (
        select owed.*, tried.status_code, tried.error_code, tried.error from (
          select holdfast_internal.deliveries.*, deliveries.xmin as row_xid from holdfast_internal.deliveries
          where id > $3 and id >= %s and id < %s %s %s %s
        ) as owed %s
      ) as delivery %s
      where %s and holdfast_internal.was_visible(delivery.row_xid, $1, $5, $6)
      order by delivery.id limit $4
    $query$, owed.from_id, owed.to_id,
      case when owed.lane is not null then format('and lane_id = %s', owed.lane) end,
      case when owed.message_ids is not null then format('and message_id = any (%L::bigint[])', owed.message_ids::text) end,
      case when kind = 'retry' then 'and due_at > now()' end,
      case when filter ?| array['error', 'errorCode', 'statusCode']
        then 'left join lateral (select status_code, error_code, error from holdfast_internal.attempts where delivery_id = owed.id order by attempt desc limit 1) as tried on true'
        else 'cross join (select null::smallint as status_code, null::text as error_code, null::text as error) as tried' end,
      case when owed.asks_message then holdfast_internal.message_join('delivery') end, owed.wide);
  end if;
  return holdfast_internal.replay_targets(filter, options);
end $$;
