-- The current value of a setting.
create or replace function holdfast_internal.setting_value(setting text) returns jsonb
language plpgsql stable parallel safe as $$
begin
  return coalesce(
    (select value from holdfast_internal.settings where name = setting),
    (select known.fallback from holdfast_internal.known_settings() as known where known.name = setting)
  );
end $$;
