-- Pending deliveries in the order of their ids: see operation_targets. Indexes: deliveries_pkey, deliveries_message, or a range of deliveries_ready for each priority;
-- its attempts are read only if a filter needs them.
create or replace function holdfast_internal.owed_targets(kind text, filter jsonb) returns text
language plpgsql stable as $$
declare
  asked record := holdfast_internal.delivery_conditions(filter - 'state');
begin
  return format($query$
    with scanned as materialized (
      select owed.* from (%s) as owed where owed.id > $3 and owed.id >= %s and owed.id < %s order by owed.id limit $4
    )
    select delivery.id as position, delivery.id, (%s) as is_meant, (select max(id) from scanned having count(*) >= $4) as reached
    from scanned as delivery %s order by delivery.id
  $query$, case
    when asked.delivery_ids is not null then format($named$
      select one.* from unnest(%L::bigint[]) as wanted (id) cross join lateral (
        select deliveries.*, deliveries.xmin as row_xid from holdfast_internal.deliveries where id = wanted.id offset 0
      ) as one $named$, asked.delivery_ids::text)
    when asked.message_ids is not null then format($messages$
      select one.* from unnest(%L::bigint[]) as wanted (id) cross join lateral (
        select deliveries.*, deliveries.xmin as row_xid from holdfast_internal.deliveries where id = wanted.id and message_id = wanted.id
        union all select deliveries.*, deliveries.xmin from holdfast_internal.deliveries where message_id = wanted.id and message_id <> id
      ) as one $messages$, asked.message_ids::text)
    when asked.lane is not null then format($lane$
      select line.* from generate_series(0, 3) as level cross join lateral (
        select deliveries.*, deliveries.xmin as row_xid from holdfast_internal.deliveries
        where lane_id = %1$s and priority <= level and (priority, id) > (level, greatest($3, %2$s - 1))
        order by priority, id limit $4
      ) as line $lane$, asked.lane, asked.from_id)
    else 'select deliveries.*, deliveries.xmin as row_xid from holdfast_internal.deliveries' end,
    asked.from_id, asked.to_id,
    concat_ws(' and ', asked.wide, case when asked.lane is not null then format('delivery.lane_id = %s', asked.lane) end,
      case when asked.message_ids is not null then format('delivery.message_id = any (%L::bigint[])', asked.message_ids::text) end,
      case when kind = 'retry' then 'coalesce(delivery.due_at > now(), false)' end,
      -- All pending deliveries of a deleted endpoint or route are cancelled, regardless of when they were written.
      case when not filter ?| array['laneId', 'routeId'] then 'holdfast_internal.was_visible(delivery.row_xid, $1, $5, $6)' end),
    case when asked.asks_message then holdfast_internal.message_join('delivery') end);
end $$;
