-- A filter on events as conditions. `place` and `ordered_by` choose the index, with $1 the id to look below and $4 the lowest; `wide` is checked for each
-- event found by it.
create or replace function holdfast_internal.event_conditions(
  filter jsonb, out place text, out ordered_by text, out wide text, out from_id bigint, out to_id bigint
)
language plpgsql stable as $$
declare
  field text;
  value text;
  condition text;
  only_unrouted text := '';
  -- A job's input is not an event.
  wide_ones text[] := '{not message.is_run}';
begin
  from_id := 0;
  to_id := 9223372036854775807;
  -- messages_pkey
  place := 'message.id < $1 and message.id >= $4';
  ordered_by := 'message.id desc';
  for field, value in
    select key, given #>> '{}' from jsonb_each(coalesce(filter, '{}')) as entry (key, given) where jsonb_typeof(given) <> 'null'
  loop
    condition := holdfast_internal.message_condition(field, value);
    case
      when field = 'correlationId' then
        -- messages_correlation; as row comparisons, so that no other index has this order.
        place := format('(message.correlation_id, message.id) < (%1$L, $1) and (message.correlation_id, message.id) >= (%1$L, $4)
                         and message.correlation_id is not null', value);
        ordered_by := 'message.correlation_id desc, message.id desc';
      when condition is not null then wide_ones := wide_ones || condition;
      -- Without an index of its own, which would slow down every publish with a key.
      when field = 'orderingKey' then wide_ones := wide_ones || format('message.ordering_key = %L', value);
      -- An event's time is that of its transaction's start. Ids lag behind the clock by a second, and a transaction draws them at any time of it.
      when field = 'from' then
        from_id := holdfast_internal.id_at(value::timestamptz - interval '1 minute');
        wide_ones := wide_ones || format('message.created_at >= %L::timestamptz', value);
      when field = 'to' then
        to_id := holdfast_internal.id_at(value::timestamptz + interval '1 minute');
        wide_ones := wide_ones || format('message.created_at < %L::timestamptz', value);
      when field = 'state' and value = 'unrouted' then
        -- messages_unrouted, unless the filter has a correlation id.
        only_unrouted := ' and message.is_unrouted';
      when field = 'state' and value = 'routed' then wide_ones := wide_ones || 'not message.is_unrouted'::text;
      else raise exception 'events cannot be filtered by "%"', field using errcode = 'HF007',
        hint = 'Known fields: eventType, tenant, correlationId, orderingKey, state (unrouted or routed), from, to.';
    end case;
  end loop;
  place := place || only_unrouted;
  wide := array_to_string(wide_ones, ' and ');
end $$;
