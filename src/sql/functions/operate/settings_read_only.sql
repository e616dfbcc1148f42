create or replace trigger settings_read_only instead of insert or update or delete on holdfast.settings for each row execute function holdfast_internal.refuse_setting();
