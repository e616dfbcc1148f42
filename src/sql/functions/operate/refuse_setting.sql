create or replace function holdfast_internal.refuse_setting() returns trigger
language plpgsql as $$
begin
  raise exception 'holdfast.settings can''t be written to directly, because its values would not be checked'
    using errcode = 'HF042', hint = format('Use: select holdfast.set_setting(%L, %L)', coalesce(new.name, old.name, 'max_pending'), coalesce(new.value, 'null'));
end $$;
