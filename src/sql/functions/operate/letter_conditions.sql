-- A filter on dead letters as conditions, the same for listing, counting and bulk actions, so that these agree. `everything` is the filter as one
-- condition on `letter` (and on `message`, if `asks_message`). `source` is where they are found: a query that returns them newest first below $1 and
-- from $4 on, from one range of an index, or from one for each queue; its ranges are comparisons of all columns of their index, so that no other
-- index has their order. `stop` is the position down to which `source` (as `scanned`) has read everything, null if that is all. `is_plain`: the
-- counts (letter_counts) cover this filter.
create or replace function holdfast_internal.letter_conditions(
  filter jsonb, out everything text, out asks_message boolean, out source text, out stop text, out is_plain boolean, out lane integer,
  out wanted_state text, out wanted_fingerprint text, out letter_ids bigint[], out message_ids bigint[]
)
language plpgsql stable as $$
declare
  field text;
  value text;
  conditions text[] := '{true}';
  condition text;
  correlated bigint[];
  queues integer[];
begin
  asks_message := false;
  is_plain := true;
  for field, value in
    select key, case when jsonb_typeof(given) = 'array' then given::text else given #>> '{}' end
    from jsonb_each(coalesce(filter, '{}')) as entry (key, given) where jsonb_typeof(given) <> 'null'
  loop
    is_plain := is_plain and field in ('endpoint', 'state', 'fingerprint');
    condition := holdfast_internal.message_condition(field, value);
    correlated := case when field = 'correlationId' then holdfast_internal.correlated_messages(value) end;
    if correlated is not null then
      message_ids := case when message_ids is null then correlated else array(select unnest(message_ids) intersect select unnest(correlated)) end;
      conditions := conditions || format('letter.message_id = any (%L::bigint[])', correlated::text);
      continue;
    elsif condition is not null then
      asks_message := true;
      conditions := conditions || condition;
      continue;
    end if;
    case field
      when 'endpoint' then
        lane := holdfast_internal.lane_of(value);
        condition := format('letter.lane_id = %s', lane);
      when 'state' then
        wanted_state := value;
        condition := format('letter.state = %L', value);
      when 'job' then
        asks_message := true;
        queues := array(select id from holdfast_internal.queues);
        condition := format('message.type = %L and letter.lane_id = any (%L::integer[])', value, queues::text);
      when 'fingerprint' then
        wanted_fingerprint := value;
        condition := format('letter.fingerprint = %L', value);
      when 'messageId' then
        correlated := array[holdfast_internal.original_message(holdfast.parse_id('msg', value))];
        message_ids := case when message_ids is null then correlated else array(select unnest(message_ids) intersect select unnest(correlated)) end;
        condition := format('letter.message_id = %s', correlated[1]);
      when 'ids' then
        letter_ids := array(select holdfast.parse_id('dlt', id) from jsonb_array_elements_text(value::jsonb) as id);
        condition := format('letter.id = any (%L::bigint[])', letter_ids::text);
      when 'route' then condition := format('letter.route_id = %s', holdfast_internal.route_of(value));
      when 'reason' then condition := format('letter.reason = %L', value);
      when 'class' then condition := format('letter.outcome = %s', coalesce(holdfast_internal.outcome_code(value), -1));
      when 'statusCode' then condition := format('letter.status_code = %s', value::smallint);
      when 'errorCode' then condition := format('letter.error_code = %L', value);
      when 'error' then condition := format('strpos(lower(letter.error), lower(%L)) > 0', value);
      when 'criticality' then condition := format('letter.criticality = %s', coalesce(holdfast_internal.criticality_code(value), -1));
      when 'orderingKey' then condition := format('letter.ordering_key = %L', value);
      when 'from' then condition := format('letter.created_at >= %L::timestamptz', value);
      when 'to' then condition := format('letter.created_at < %L::timestamptz', value);
      else raise exception 'dead letters cannot be filtered by "%"', field using errcode = 'HF007',
        hint = 'Known fields: endpoint, job, state, fingerprint, messageId, ids, route, tenant, eventType, correlationId, reason, class, statusCode, errorCode, error, criticality, orderingKey, from, to.';
    end case;
    conditions := conditions || condition;
  end loop;
  everything := array_to_string(conditions, ' and ');
  source := case
    when lane is not null and wanted_state is not null then format(
      'letter.lane_id = %1$s and letter.state >= %2$L and (letter.state, letter.id) < (%2$L, $1) and (letter.state, letter.id) >= (%2$L, $4)
      order by letter.state desc, letter.id desc', lane, wanted_state)
    when lane is not null then format('(letter.lane_id, letter.id) < (%1$s, $1) and (letter.lane_id, letter.id) >= (%1$s, $4) and letter.lane_id <= %1$s
      order by letter.lane_id desc, letter.id desc', lane)
    when queues is not null then '(letter.lane_id, letter.id) < (queue, $1) and (letter.lane_id, letter.id) >= (queue, $4) and letter.lane_id <= queue
      order by letter.lane_id desc, letter.id desc'
    when wanted_fingerprint is not null then format(
      '(letter.fingerprint, letter.id) < (%1$L, $1) and (letter.fingerprint, letter.id) >= (%1$L, $4) and letter.fingerprint <= %1$L
      order by letter.fingerprint desc, letter.id desc', wanted_fingerprint)
    when wanted_state is not null then format('(letter.state, letter.id) < (%1$L, $1) and (letter.state, letter.id) >= (%1$L, $4) and letter.state <= %1$L
      order by letter.state desc, letter.id desc', wanted_state)
    else 'letter.id < $1 and letter.id >= $4 order by letter.id desc' end;
  source := format('select letter.* from holdfast_internal.dead_letters as letter where %s limit ', source);
  if letter_ids is not null or message_ids is not null then
    -- A thousand at most.
    source := format('select letter.* from unnest(%L::bigint[]) as wanted (id) cross join lateral (
        select * from holdfast_internal.dead_letters as one where one.%s = wanted.id offset 0
      ) as letter where letter.id < $1 and letter.id >= $4 order by letter.id desc limit $3',
      coalesce(letter_ids, message_ids)::text, case when letter_ids is null then 'message_id' else 'id' end);
    stop := 'select min(id) as at from scanned having count(*) >= $3';
  elsif queues is null or lane is not null then
    source := source || '$3';
    stop := 'select min(id) as at from scanned having count(*) >= $3';
  else
    source := format('select letter.* from unnest(%L::integer[]) as queue cross join lateral (%sgreatest($2, $3 / %s)) as letter', queues::text, source,
                     greatest(cardinality(queues), 1));
    stop := format('select max(reached) as at from (
      select min(id) as reached from scanned group by lane_id having count(*) >= greatest($2, $3 / %s)) as line', greatest(cardinality(queues), 1));
  end if;
end $$;
