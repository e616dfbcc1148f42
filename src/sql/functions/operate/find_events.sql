-- The newest events before an id. State `unrouted` means that nobody wanted it when it was published.
create or replace function holdfast_internal.find_events(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  field text;
  value text;
  from_id bigint := 0;
  to_id bigint := 9223372036854775807;
  -- messages_pkey
  place text := 'message.id < $1 and message.id >= $4';
  ordered_by text := 'message.id desc';
  wide text[] := '{true}';
  condition text;
  only_unrouted text := '';
begin
  for field, value in
    select key, given #>> '{}' from jsonb_each(coalesce(filter, '{}')) as entry (key, given) where jsonb_typeof(given) <> 'null'
  loop
    condition := holdfast_internal.message_condition(field, value);
    case
      when field = 'correlationId' then
        -- messages_correlation; as pairs, so that no other index has this order.
        place := format('(message.correlation_id, message.id) < (%1$L, $1) and (message.correlation_id, message.id) >= (%1$L, $4)
                         and message.correlation_id is not null', value);
        ordered_by := 'message.correlation_id desc, message.id desc';
      when condition is not null then wide := wide || condition;
      when field = 'from' then from_id := holdfast_internal.id_at(value::timestamptz);
      when field = 'to' then to_id := holdfast_internal.id_at(value::timestamptz);
      when field = 'state' and value = 'unrouted' then
        -- messages_unrouted, unless they are asked for by correlation.
        only_unrouted := ' and message.is_unrouted';
      when field = 'state' and value = 'routed' then wide := wide || 'not message.is_unrouted'::text;
      else raise exception 'events can not be filtered by "%"', field using errcode = 'HF007',
        hint = 'Known fields: eventType, tenant, correlationId, state (unrouted or routed), from, to.';
    end case;
  end loop;
  -- A job's input is no event.
  wide := wide || 'not message.is_run'::text;
  -- Bodies that outlived their partition are asked with the others, so that nothing that is still owed is missing.
  select looked.ids, looked.scanned_to into ids, scanned_to from holdfast_internal.look(format($query$
    with scanned as materialized (
      select id, type, tenant, correlation_id, is_unrouted, is_run from (
        (select id, type, tenant, correlation_id, is_unrouted, is_run from holdfast_internal.messages as message
         where %1$s order by %2$s limit $3)
        union all
        (select id, type, tenant, correlation_id, is_unrouted, is_run from holdfast_internal.messages_kept as message
         where %1$s order by %2$s limit $3)
      ) as every order by id desc limit $3
    )
    select array(select distinct message.id from scanned as message where %3$s order by message.id desc limit $2),
           (select min(id) from scanned having count(*) >= $3)
  $query$, place || only_unrouted, ordered_by, array_to_string(wide, ' and ')), least(before_id, to_id), from_id, max_rows, max_scanned) as looked;
end $$;
