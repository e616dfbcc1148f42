-- Changes an installation-wide setting; null restores its default. Refused if the value has the wrong type or is out of range, and while a node pins the
-- setting. Returns the value that is in force now.
create or replace function holdfast.set_setting(name text, value jsonb, actor text default current_user) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  fallback jsonb := (select known.fallback from holdfast_internal.known_settings() as known where known.name = set_setting.name);
  wanted jsonb := case when coalesce(value, 'null') = 'null' then fallback else value end;
  pin record;
begin
  actor := holdfast_internal.actor_of(actor);
  perform holdfast_internal.assert_setting(name, wanted);
  perform pg_advisory_xact_lock(hashtext('holdfast.settings'));
  select each.source, node.name as node into pin
  from holdfast_internal.setting_pins as each join holdfast_internal.nodes as node on node.incarnation = each.incarnation
  where each.name = set_setting.name order by each.incarnation desc limit 1;
  if found then
    raise exception 'the setting "%" is pinned by % on node "%"', name, pin.source, pin.node
      using errcode = 'HF041', hint = 'Change or remove it there, then restart the node.';
  end if;
  -- Fields of an object that are left out have their defaults.
  perform holdfast_internal.write_setting(name, case when jsonb_typeof(wanted) = 'object' then fallback || wanted else wanted end, actor, null);
  return (select current.value from holdfast_internal.settings as current where current.name = set_setting.name);
end $$;
