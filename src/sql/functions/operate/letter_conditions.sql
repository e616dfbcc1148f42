-- A filter on dead letters as conditions: `narrow` are those that an index serves, `wide` those that are asked of each letter found so,
-- `asks_message` whether its message is needed. The same for looking, counting and bulk actions, so that these agree.
create or replace function holdfast_internal.letter_conditions(filter jsonb, out narrow text, out wide text, out asks_message boolean)
language plpgsql stable as $$
declare
  field text;
  value text;
  narrow_ones text[] := '{true}';
  wide_ones text[] := '{true}';
  condition text;
  correlated bigint[];
begin
  asks_message := false;
  for field, value in
    select key, case when jsonb_typeof(given) = 'array' then given::text else given #>> '{}' end
    from jsonb_each(coalesce(filter, '{}')) as entry (key, given) where jsonb_typeof(given) <> 'null'
  loop
    condition := holdfast_internal.message_condition(field, value);
    correlated := case when field = 'correlationId' then holdfast_internal.correlated_messages(value) end;
    if correlated is not null then
      narrow_ones := narrow_ones || format('letter.message_id = any (%L::bigint[])', correlated::text);
      continue;
    elsif condition is not null then
      asks_message := true;
      wide_ones := wide_ones || condition;
      continue;
    end if;
    case field
      when 'endpoint' then narrow_ones := narrow_ones || format('letter.lane_id = %s', holdfast_internal.lane_of(value));
      when 'state' then narrow_ones := narrow_ones || format('letter.state = %L', value);
      when 'job' then
        asks_message := true;
        wide_ones := wide_ones || format('message.type = %L and letter.lane_id in (select id from holdfast_internal.queues)', value);
      when 'fingerprint' then narrow_ones := narrow_ones || format('letter.fingerprint = %L', value);
      when 'messageId' then narrow_ones := narrow_ones || format('letter.message_id = %s', holdfast_internal.original_message(holdfast.parse_id('msg', value)));
      when 'ids' then narrow_ones := narrow_ones || format('letter.id = any (%L::bigint[])',
        array(select holdfast.parse_id('dlt', id) from jsonb_array_elements_text(value::jsonb) as id)::text);
      when 'route' then wide_ones := wide_ones || format('letter.route_id = %s', holdfast_internal.route_of(value));
      when 'reason' then wide_ones := wide_ones || format('letter.reason = %L', value);
      when 'class' then wide_ones := wide_ones || format('letter.outcome = %s', coalesce(holdfast_internal.outcome_code(value), -1));
      when 'statusCode' then wide_ones := wide_ones || format('letter.status_code = %s', value::smallint);
      when 'errorCode' then wide_ones := wide_ones || format('letter.error_code = %L', value);
      when 'error' then wide_ones := wide_ones || format('strpos(lower(letter.error), lower(%L)) > 0', value);
      when 'criticality' then wide_ones := wide_ones || format('letter.criticality = %s', coalesce(holdfast_internal.criticality_code(value), -1));
      when 'orderingKey' then wide_ones := wide_ones || format('letter.ordering_key = %L', value);
      when 'from' then wide_ones := wide_ones || format('letter.created_at >= %L::timestamptz', value);
      when 'to' then wide_ones := wide_ones || format('letter.created_at < %L::timestamptz', value);
      else raise exception 'dead letters can not be filtered by "%"', field using errcode = 'HF007',
        hint = 'Known fields: endpoint, job, state, fingerprint, messageId, ids, route, tenant, eventType, correlationId, reason, class, statusCode, errorCode, error, criticality, orderingKey, from, to.';
    end case;
  end loop;
  narrow := array_to_string(narrow_ones, ' and ');
  wide := array_to_string(wide_ones, ' and ');
end $$;
