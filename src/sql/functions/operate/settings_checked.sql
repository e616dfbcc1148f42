create or replace trigger settings_checked before insert or update on holdfast_internal.settings for each row execute function holdfast_internal.check_setting();
