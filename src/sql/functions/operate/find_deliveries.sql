-- The newest deliveries before an id, in any state. A status or an error is asked of every attempt and of the dead letter, so that a filter with a state
-- finds what the filter without it finds of that state. Without a state, each attempt is read anyway.
create or replace function holdfast_internal.find_deliveries(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  asked record := holdfast_internal.delivery_conditions(filter);
  asks_error boolean := asked.of_attempt is not null;
  sources text[] := case
    when asked.wanted_state is null then array['dead', 'tried'] || case when not asks_error then array['owed'] end
    when asked.wanted_state in ('pending', 'in_flight') then array['owed']
    when asked.wanted_state = 'dead' then array['dead']
    else array['tried'] end;
  ending smallint := holdfast_internal.outcome_code(case asked.wanted_state when 'succeeded' then 'success' else asked.wanted_state end);
  -- Runs have attempts and dead letters, too, and are not deliveries. A lane that is in no table is that of a deleted endpoint.
  of_no_queue text := format('delivery.lane_id <> all (%L::integer[])', array(select id from holdfast_internal.queues)::text);
  parts text[] := '{}';
  source text;
begin
  foreach source in array sources loop
    parts := parts || format($part$
      select array(select distinct delivery.id from scanned_%1$s as delivery %5$s where %2$s and %3$s and %4$s) as ids,
             (select min(id) + %6$s from scanned_%1$s having count(*) >= $3) as stopped_at
      $part$, source, case when asked.asks_message then 'delivery.message_id in (select message_id from told)' else 'true' end, asked.of_delivery,
      concat_ws(' and ', case when asked.lane is not null then format('delivery.lane_id = %s', asked.lane) else of_no_queue end, case
        when source = 'owed' then null
        when source = 'dead' then 'delivery.action is distinct from ''late_success'''
        when ending = 1 then 'delivery.outcome = 1'
        -- A success takes precedence.
        when ending is not null then format('delivery.outcome = %s and not exists (
          select from holdfast_internal.attempts as won where won.delivery_id = delivery.id and won.outcome = 1)', ending) end,
        case when asked.wanted_state is null then asked.of_attempt when source = 'owed' then asked.was_tried
             when asks_error then format('(%s or %s)', asked.of_attempt, asked.was_tried) end),
      case when asks_error then 'cross join lateral (select delivery.status_code, delivery.error_code, delivery.error) as tried' end,
      -- A delivery whose attempts lie on both sides of the limit is read again, unless one attempt is enough to list it.
      case when source = 'tried' and (ending is not null or asks_error) then 1 else 0 end);
  end loop;
  select looked.ids, looked.scanned_to into ids, scanned_to from holdfast_internal.look(format($query$
    with %s %s, looked as materialized (%s), stop as materialized (select max(stopped_at) as at from looked)
    select array(
      select distinct id from looked, unnest(ids) as id, stop where id >= coalesce(stop.at, 0) order by id desc limit $2
    ), (select at from stop)
  $query$,
    (select string_agg(format('scanned_%s as materialized (%s)', each, holdfast_internal.delivery_source(each, asked.lane, asked.message_ids, ending, asks_error and not asked.may_succeed)), ', ')
     from unnest(sources) as each),
    -- Each message is checked once, however many deliveries it has.
    case when asked.asks_message then format(', told as materialized (select every.message_id from (%s) as every %s where %s)',
      (select string_agg(format('select message_id from scanned_%s', each), ' union ') from unnest(sources) as each),
      holdfast_internal.message_join('every'), asked.of_message) end,
    array_to_string(parts, ' union all ')), least(before_id, asked.to_id), asked.from_id, max_rows, max_scanned) as looked;
end $$;
