create or replace function holdfast.redrive_all(rate double precision default null, actor text default current_user) returns text
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select holdfast.format_id('op', holdfast_internal.create_operation('redrive', '{}', '{"all": true}', rate, null, actor))
$$;
