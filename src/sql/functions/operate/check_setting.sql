-- No wrong value gets into the table, whoever writes it.
create or replace function holdfast_internal.check_setting() returns trigger
language plpgsql as $$
begin
  perform holdfast_internal.assert_setting(new.name, new.value);
  return new;
end $$;
