-- `events`: a JSON array of objects {type, payload, …options}.
create or replace function holdfast.publish_batch(events jsonb) returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  bad record;
begin
  if jsonb_typeof(events) is distinct from 'array' then
    raise exception 'publish_batch takes a JSON array of events {type, payload, …}' using errcode = 'HF002';
  end if;
  select at into bad from jsonb_array_elements(events) with ordinality as given (event, at)
  where jsonb_typeof(event) <> 'object' or jsonb_typeof(event -> 'type') is distinct from 'string' limit 1;
  if found then
    raise exception 'event % is not an object {type, payload, …} whose type is a string', bad.at using errcode = 'HF002';
  end if;
  return query
  select holdfast.format_id('msg', message_id) from holdfast_internal.accept_events(
    array(select event ->> 'type' from jsonb_array_elements(events) with ordinality as given (event, at) order by at),
    array(select coalesce(event -> 'payload', 'null')::text from jsonb_array_elements(events) with ordinality as given (event, at) order by at),
    array(select nullif(event - 'type' - 'payload', '{}') from jsonb_array_elements(events) with ordinality as given (event, at) order by at)
  );
end $$;
