create or replace function holdfast_internal.accept_messages(endpoint_name text, bodies text[], message_options jsonb[] default null) returns setof bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select unnest(accepted.ids) from holdfast_internal.accept(endpoint_name, bodies, message_options, null) as accepted;
end $$;
