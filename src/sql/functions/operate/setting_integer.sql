-- In PL/pgSQL, like all functions that a publish calls: before PostgreSQL 18 an SQL function that reads a table is planned at every call.
create or replace function holdfast_internal.setting_integer(setting text) returns bigint
language plpgsql stable parallel safe as $$
begin
  return coalesce(
    (select value::text::bigint from holdfast_internal.settings where name = setting),
    (select known.fallback::text::bigint from holdfast_internal.known_settings() as known where known.name = setting)
  );
end $$;
