-- In PL/pgSQL, like all publishing functions: it caches its plans, whereas an SQL function is planned at every call.
create or replace function holdfast.send(endpoint text, payload jsonb, options jsonb default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return holdfast.format_id('msg', ((holdfast_internal.accept(
    endpoint, array[coalesce(payload, 'null')::text], case when options is not null then array[options] end, null)).ids)[1]);
end $$;
