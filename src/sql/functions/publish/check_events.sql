create or replace function holdfast_internal.check_events(event_types text[], bodies text[], message_options jsonb[]) returns void
language plpgsql stable as $$
declare
  total integer := cardinality(bodies);
  max_bytes bigint := holdfast_internal.setting_integer('max_payload_bytes');
  bad record;
begin
  if cardinality(event_types) <> total or (message_options is not null and cardinality(message_options) <> total) then
    raise exception 'types, bodies and options must have the same number of entries' using errcode = 'HF002';
  end if;
  select type, at into bad from unnest(event_types) with ordinality as given (type, at)
  where type is null or length(type) > 255 or type !~ '^[A-Za-z0-9_][A-Za-z0-9_-]*([.][A-Za-z0-9_-]+)*$' limit 1;
  if found then
    raise exception 'the type of event % is not a valid event type: "%"', bad.at, bad.type
      using errcode = 'HF002', hint = 'Use letters, digits, "_", "-" and dots between segments, such as order.created.';
  end if;
  -- In the select list, unnest passes the bodies on one by one; in the from clause it copies them all first.
  if (select max(octet_length(body)) from (select unnest(bodies) as body) as given) > max_bytes then
    select octet_length(body) as bytes, at into bad from unnest(bodies) with ordinality as given (body, at)
    where octet_length(body) > max_bytes limit 1;
    raise exception 'the payload of event % takes % bytes; the limit is %', bad.at, bad.bytes, max_bytes
      using errcode = 'HF003', hint = 'Send a reference to the data instead of the data, or raise max_payload_bytes.';
  end if;
  if message_options is not null then
    perform holdfast_internal.check_message_options(message_options);
  end if;
end $$;
