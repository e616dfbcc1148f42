create or replace function holdfast_internal.assert_setting(setting text, wanted jsonb) returns void
language plpgsql stable as $$
declare
  known record;
  problem text;
begin
  select * into known from holdfast_internal.known_settings() as each where each.name = setting;
  if not found then
    raise exception 'there is no setting named "%"', setting
      using errcode = 'HF040', hint = 'List the settings with: select name, value, unit, description from holdfast.describe_settings()';
  end if;
  problem := holdfast_internal.value_problem(coalesce(wanted, 'null'), known.schema, '');
  if problem is null and setting = 'defaults' then
    problem := holdfast_internal.retry_contradiction(wanted -> 'retry', 'retry');
  end if;
  if problem is not null then
    raise exception 'the setting "%" can''t be %: %', setting, left(wanted::text, 200),
      concat_ws(', in ', case when problem like 'must %' then 'it ' else '' end || problem, known.unit)
      using errcode = 'HF042', hint = 'Nothing was changed.';
  end if;
end $$;
