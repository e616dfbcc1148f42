-- Pending deliveries that wait for a time, the soonest next attempt first, after a position: microseconds since 1970 and an id. Like `look`, in
-- growing parts, up to `max_scanned` rows. `scanned_us` and `scanned_id` say where the next call continues (null: there is no more).
-- Indexes: deliveries_due for an endpoint, deliveries_next for all of them, deliveries_message for a message. The settings of the function apply to
-- the query.
create or replace function holdfast_internal.find_next_deliveries(
  filter jsonb, after_us bigint, after_id bigint, max_rows integer, max_scanned integer,
  out ids bigint[], out due_us bigint[], out scanned_us bigint, out scanned_id bigint
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
declare
  asked record := holdfast_internal.delivery_conditions(filter);
  after_at timestamptz;
  after_number bigint := after_id;
  piece integer := least(max_scanned, 4 * max_rows);
  scanned integer := 0;
  looked record;
  source text := case
    when asked.message_ids is not null then format($source$
      select owing.* from unnest(%L::bigint[]) as wanted (id) cross join lateral (
        select * from holdfast_internal.deliveries where id = wanted.id and message_id = wanted.id
        union all select * from holdfast_internal.deliveries where message_id = wanted.id and message_id <> id
      ) as owing where owing.due_at is not null and (owing.due_at, owing.id) > ($1, $2) order by owing.due_at, owing.id limit $3
      $source$, asked.message_ids::text)
    when asked.lane is not null then format($source$
      select * from holdfast_internal.deliveries where lane_id <= %1$s and due_at is not null and (lane_id, due_at, id) > (%1$s, $1, $2)
      order by lane_id, due_at, id limit $3
      $source$, asked.lane)
    else $source$
      select * from holdfast_internal.deliveries where due_at is not null and (due_at at time zone 'UTC', id) > ($1 at time zone 'UTC', $2)
      order by due_at at time zone 'UTC', id limit $3
      $source$ end;
  query text := format($query$
    with scanned as materialized (
      select owed.id, owed.message_id, owed.lane_id, owed.route_id, owed.due_at from (%1$s) as owed
    ), met as materialized (
      select delivery.id, delivery.due_at from scanned as delivery %2$s where %3$s and delivery.id >= %4$s and delivery.id < %5$s %6$s
    )
    select array(select id from met order by due_at, id limit $4) as ids,
           array(select (extract(epoch from due_at) * 1000000)::bigint from met order by due_at, id limit $4) as due_us,
           (select count(*) from scanned) as scanned, last.due_at as last_at, last.id as last_id
    from (select 1) as one left join lateral (select due_at, id from scanned order by due_at desc, id desc limit 1) as last on true
    $query$,
    source,
    case when asked.asks_message then holdfast_internal.message_join('delivery') end,
    asked.wide, asked.from_id, asked.to_id,
    case when asked.lane is not null then format('and delivery.lane_id = %s', asked.lane) end);
begin
  after_at := timestamptz 'epoch' + after_us * interval '1 microsecond';
  ids := '{}';
  due_us := '{}';
  loop
    execute query into looked using after_at, after_number, piece, max_rows - cardinality(ids);
    ids := ids || looked.ids;
    due_us := due_us || looked.due_us;
    scanned := scanned + piece;
    if looked.scanned < piece then return; end if;
    after_at := looked.last_at;
    after_number := looked.last_id;
    exit when cardinality(ids) >= max_rows or scanned >= max_scanned;
    piece := least(4 * piece, max_scanned - scanned);
  end loop;
  scanned_us := (extract(epoch from after_at) * 1000000)::bigint;
  scanned_id := after_number;
end $$;
