-- The newest deliveries before an id, whether owed, dead or done. Each place looks at `max_scanned` rows at most; `scanned_to` says where the
-- first of them stopped when there may be more.
create or replace function holdfast_internal.find_deliveries(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  asked record := holdfast_internal.delivery_conditions(filter);
  asks_error boolean := filter ?| array['error', 'errorCode', 'statusCode'];
  sources text[] := case
    when asked.wanted_state is null then array['owed', 'dead', 'tried']
    when asked.wanted_state in ('pending', 'in_flight') then array['owed']
    when asked.wanted_state = 'dead' then array['dead']
    else array['tried'] end;
  ending smallint := holdfast_internal.outcome_code(case asked.wanted_state when 'succeeded' then 'success' else asked.wanted_state end);
  parts text[] := '{}';
  source text;
begin
  foreach source in array sources loop
    parts := parts || format($part$
      select 1 as part, array(select distinct delivery.id from scanned_%1$s as delivery %2$s where %3$s) as ids,
             -- A delivery whose attempts were cut apart is looked at again.
             (select min(id) + 1 from scanned_%1$s having count(*) >= $3) as stopped_at
      $part$, source, case when asked.asks_message then holdfast_internal.message_join('delivery') end, asked.wide);
  end loop;
  execute format($query$
    with %s, looked as (%s), stop as (select max(stopped_at) as at from looked)
    select array(
      select distinct id from looked, unnest(ids) as id, stop where id >= coalesce(stop.at, 0) order by id desc limit $2
    ), (select at from stop)
  $query$,
    (select string_agg(format('scanned_%s as materialized (%s)', each, holdfast_internal.delivery_source(each, asked.lane, asked.message_ids, ending, asks_error)), ', ')
     from unnest(sources) as each),
    array_to_string(parts, ' union all '))
  into ids, scanned_to using least(before_id, asked.to_id), max_rows,
    -- A delivery has a row for each of its attempts.
    case when asked.wide = 'true' and not coalesce(asks_error, false) then max_rows * 4 else max_scanned end, asked.from_id;
end $$;
