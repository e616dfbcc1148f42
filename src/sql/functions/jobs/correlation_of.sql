-- The correlation id of a run by its message: as it was given, else the message's id. Indexes: messages_pkey, messages_kept_pkey.
create or replace function holdfast_internal.correlation_of(message bigint) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(
    (select correlation_id from holdfast_internal.messages where id = message
     union all select correlation_id from holdfast_internal.messages_kept where id = message limit 1),
    holdfast.format_id('msg', message));
end $$;
