-- Rejects invalid values, also in direct writes to the table.
create or replace function holdfast_internal.check_setting() returns trigger
language plpgsql as $$
begin
  perform holdfast_internal.assert_setting(new.name, new.value);
  return new;
end $$;
