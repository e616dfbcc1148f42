-- A filter on deliveries as conditions. `lane`, `message_ids` and `wanted_state` choose the index; `wide` is checked for each delivery found by it. It is made
-- of `of_delivery` and, where `asks_message`, of `of_message`, and of `was_tried`: one of its attempts meets `of_attempt`, whatever came after it (both null
-- unless the filter has a status or an error; `may_succeed`: such an attempt may be a success).
create or replace function holdfast_internal.delivery_conditions(
  filter jsonb, out lane integer, out message_ids bigint[], out delivery_ids bigint[], out wanted_state text, out wide text, out of_delivery text, out of_message text,
  out of_attempt text, out was_tried text, out may_succeed boolean,
  out asks_message boolean, out from_id bigint, out to_id bigint
)
language plpgsql stable as $$
declare
  field text;
  value text;
  wide_ones text[] := '{true}';
  message_ones text[] := '{true}';
  attempt_ones text[] := '{}';
  condition text;
  correlated bigint[];
begin
  asks_message := false;
  from_id := 0;
  to_id := 9223372036854775807;
  for field, value in
    select key, case when jsonb_typeof(given) = 'array' then given::text else given #>> '{}' end
    from jsonb_each(coalesce(filter, '{}')) as entry (key, given) where jsonb_typeof(given) <> 'null'
  loop
    condition := holdfast_internal.message_condition(field, value);
    correlated := case when field = 'correlationId' and message_ids is null then holdfast_internal.correlated_messages(value) end;
    if correlated is not null then
      message_ids := correlated;
      continue;
    elsif condition is not null then
      asks_message := true;
      message_ones := message_ones || condition;
      continue;
    end if;
    case field
      when 'endpoint' then lane := holdfast_internal.lane_of(value);
      -- Of endpoints and routes that were deleted: see delete_endpoint_v2.
      when 'laneId' then lane := value::integer;
      when 'routeId' then wide_ones := wide_ones || format('delivery.route_id = %s', value::integer);
      when 'messageId' then
        message_ids := case when message_ids is null then array[holdfast_internal.original_message(holdfast.parse_id('msg', value))]
          else array(select unnest(message_ids) intersect select holdfast_internal.original_message(holdfast.parse_id('msg', value))) end;
      when 'state' then wanted_state := value;
      when 'from' then from_id := holdfast_internal.id_at(value::timestamptz);
      when 'to' then to_id := holdfast_internal.id_at(value::timestamptz);
      when 'ids' then
        delivery_ids := array(select holdfast.parse_id('dlv', id) from jsonb_array_elements_text(value::jsonb) as id);
        wide_ones := wide_ones || format('delivery.id = any (%L::bigint[])', delivery_ids::text);
      when 'route' then wide_ones := wide_ones || format('delivery.route_id = %s', holdfast_internal.route_of(value));
      when 'statusCode' then attempt_ones := attempt_ones || format('tried.status_code = %s', value::smallint);
      when 'errorCode' then attempt_ones := attempt_ones || format('tried.error_code = %L', value);
      when 'error' then attempt_ones := attempt_ones || format('strpos(lower(tried.error), lower(%L)) > 0', value);
      else raise exception 'deliveries cannot be filtered by "%"', field using errcode = 'HF007',
        hint = 'Known fields: endpoint, messageId, state, from, to, ids, route, tenant, eventType, correlationId, statusCode, errorCode, error.';
    end case;
  end loop;
  of_delivery := array_to_string(wide_ones, ' and ');
  of_message := array_to_string(message_ones, ' and ');
  of_attempt := nullif(array_to_string(attempt_ones, ' and '), '');
  -- attempts_pkey of one partition: without the order, the planner may walk an index that has no use for the id.
  was_tried := case when of_attempt is not null then format('(select true from (
    select * from holdfast_internal.attempts as made where made.delivery_id = delivery.id order by made.attempt offset 0) as tried where %s limit 1)', of_attempt) end;
  may_succeed := not coalesce(filter ?| array['error', 'errorCode'], false) and holdfast_internal.may_succeed(lane, (filter ->> 'statusCode')::integer);
  wide := concat_ws(' and ', of_delivery, case when asks_message then of_message end, was_tried);
end $$;
