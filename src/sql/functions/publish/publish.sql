create or replace function holdfast.publish(type text, payload jsonb, options jsonb default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select holdfast.format_id('msg', message_id)
    from holdfast_internal.accept_events(array[type], array[coalesce(payload, 'null')::text], case when options is not null then array[options] end)
  );
end $$;
