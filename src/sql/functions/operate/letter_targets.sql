-- Open dead letters, in the order of their original deliveries: see operation_targets. Indexes: dead_letters_pkey, dead_letters_message,
-- dead_letters_lane_delivery or dead_letters_open.
create or replace function holdfast_internal.letter_targets(filter jsonb) returns text
language plpgsql stable as $$
declare
  asked record := holdfast_internal.letter_conditions(filter || '{"state": "open"}');
begin
  return format($query$
    with scanned as materialized (%s limit $4)
    select letter.delivery_id as position, letter.id, (%s) and pg_visible_in_snapshot(letter.changed_xid, $1) as is_meant,
           (select max(delivery_id) from scanned having count(*) >= $4) as reached
    from scanned as letter %s order by letter.delivery_id
  $query$, case
    when asked.letter_ids is not null or asked.message_ids is not null then format($named$
      select letter.* from unnest(%L::bigint[]) as wanted (id) cross join lateral (
        select * from holdfast_internal.dead_letters as one where one.%s = wanted.id offset 0
      ) as letter where letter.delivery_id > $3 order by letter.delivery_id $named$,
      coalesce(asked.letter_ids, asked.message_ids)::text, case when asked.letter_ids is null then 'message_id' else 'id' end)
    -- As row comparisons, so that no other index has this order.
    when asked.lane is not null then format($lane$
      select letter.* from holdfast_internal.dead_letters as letter
      where (letter.lane_id, letter.delivery_id) > (%1$s, $3) and (letter.lane_id, letter.delivery_id) < (%1$s + 1, 0) and letter.lane_id >= %1$s
      order by letter.lane_id, letter.delivery_id $lane$, asked.lane)
    else $all$
      select letter.* from holdfast_internal.dead_letters as letter where letter.delivery_id > $3 and letter.state = 'open' order by letter.delivery_id $all$
    end, asked.everything, case when asked.asks_message then holdfast_internal.message_join('letter') end);
end $$;
