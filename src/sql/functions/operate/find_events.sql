-- Events: state `unrouted` means that nobody wanted it when it was published.
create or replace function holdfast_internal.find_events(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  field text;
  value text;
  from_id bigint := 0;
  to_id bigint := 9223372036854775807;
  narrow text[] := '{true}';
  wide text[] := '{true}';
  condition text;
begin
  for field, value in
    select key, given #>> '{}' from jsonb_each(coalesce(filter, '{}')) as entry (key, given) where jsonb_typeof(given) <> 'null'
  loop
    condition := holdfast_internal.message_condition(field, value);
    case
      -- messages_correlation
      when field = 'correlationId' then narrow := narrow || condition;
      when condition is not null then wide := wide || condition;
      when field = 'from' then from_id := holdfast_internal.id_at(value::timestamptz);
      when field = 'to' then to_id := holdfast_internal.id_at(value::timestamptz);
      -- messages_unrouted
      when field = 'state' and value = 'unrouted' then narrow := narrow || 'message.is_unrouted'::text;
      when field = 'state' and value = 'routed' then wide := wide || 'not message.is_unrouted'::text;
      else raise exception 'events can not be filtered by "%"', field using errcode = 'HF007',
        hint = 'Known fields: eventType, tenant, correlationId, state (unrouted or routed), from, to.';
    end case;
  end loop;
  -- A job's input is no event. Without jobs nobody is asked: a page then reads no more than it shows.
  if exists (select from holdfast_internal.jobs) then
    wide := wide || 'not message.is_run'::text;
  end if;
  -- Bodies that outlived their partition are asked with the others, so that nothing that is still owed is missing.
  execute format($query$
    with scanned as materialized (
      select id, type, tenant, correlation_id, is_unrouted, is_run from (
        (select * from holdfast_internal.messages as message where message.id < $1 and message.id >= $4 and %1$s order by message.id desc limit $3)
        union all
        (select * from holdfast_internal.messages_kept as message where message.id < $1 and message.id >= $4 and %1$s order by message.id desc limit $3)
      ) as every order by id desc limit $3
    )
    select array(select distinct message.id from scanned as message where %2$s order by message.id desc limit $2),
           (select min(id) from scanned having count(*) >= $3)
  $query$, array_to_string(narrow, ' and '), array_to_string(wide, ' and '))
  into ids, scanned_to using least(before_id, to_id), max_rows, case when wide = '{true}' then max_rows else max_scanned end, from_id;
end $$;
