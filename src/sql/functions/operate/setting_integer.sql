-- In PL/pgSQL, as whatever a publish asks: before PostgreSQL 18 an SQL function that looks into a table is planned at every call.
create or replace function holdfast_internal.setting_integer(setting text) returns bigint
language plpgsql stable parallel safe as $$
begin
  return (select value::text::bigint from holdfast_internal.settings where name = setting);
end $$;
