-- Stores a setting that was validated, and notifies the nodes. Does nothing if it is unchanged.
create or replace function holdfast_internal.write_setting(setting text, wanted jsonb, actor text, pinned_by text) returns void
language plpgsql as $$
declare
  before jsonb := (select value from holdfast_internal.settings where name = setting);
begin
  if before = wanted then
    return;
  end if;
  insert into holdfast_internal.settings (name, value, changed_at, changed_by) values (setting, wanted, clock_timestamp(), actor)
  on conflict (name) do update set value = excluded.value, changed_at = excluded.changed_at, changed_by = excluded.changed_by;
  perform holdfast_internal.audit(actor, 'setting.updated', 'setting:' || setting, jsonb_strip_nulls(jsonb_build_object(
    'before', coalesce(before, (select fallback from holdfast_internal.known_settings() where name = setting)), 'after', wanted, 'pinnedBy', pinned_by)));
  if setting = 'zombie_check_ms' then
    update holdfast_internal.keeper_rounds set next_at = least(next_at, clock_timestamp() + make_interval(secs => wanted::text::double precision / 1000))
    where name = 'zombies';
  end if;
  perform holdfast_internal.tell_nodes('holdfast_settings', setting);
end $$;
