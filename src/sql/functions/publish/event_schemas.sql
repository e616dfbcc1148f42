-- The payload schemas of these event types, for publishers that validate before they store. Index: event_types_pkey.
create or replace function holdfast_internal.event_schemas(event_types text[]) returns table (name text, schema jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select known.name, known.schema from holdfast_internal.event_types as known where known.name = any (event_types);
end $$;
