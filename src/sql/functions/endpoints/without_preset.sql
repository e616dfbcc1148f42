-- An endpoint without the values of its preset. A preset of a newer version is unknown here, and removes nothing.
create or replace function holdfast_internal.without_preset(current jsonb, site jsonb) returns jsonb
language plpgsql stable as $$
declare
  policies jsonb := holdfast_internal.preset_policies(current ->> 'preset', site);
  extras jsonb := (select known.extras from holdfast_internal.known_presets() as known where known.name = current ->> 'preset');
  config jsonb := current -> 'config';
  field text;
begin
  if policies is null then
    return current;
  end if;
  foreach field in array '{retry,request,circuit}'::text[] loop
    current := current || jsonb_build_object(field, (
      select coalesce(jsonb_object_agg(each.key, each.value), '{}') from jsonb_each(current -> field) as each
      where each.value is distinct from policies -> field -> each.key));
  end loop;
  foreach field in array '{classify,headers,plainHeaders}'::text[] loop
    config := case when config -> field = extras -> field then config - field else config end;
  end loop;
  config := case when config -> 'timeoutMs' = policies -> 'timeoutMs' then config - 'timeoutMs' else config end;
  current := current || jsonb_build_object('config', config);
  current := case when current -> 'batch' = extras -> 'batch' then current - 'batch' else current end;
  return case when coalesce(current -> 'holdOn', '[]') = extras -> 'holdOn' then current - 'holdOn' else current end;
end $$;
