-- A header of a config whose value is text and isn't listed as plain: it would have to be encrypted. Null if there is none.
create or replace function holdfast_internal.hidden_header(config jsonb) returns text
language sql immutable as $$
  select header.key from jsonb_each(coalesce(config -> 'headers', '{}')) as header
  where jsonb_typeof(header.value) = 'string' and not exists (
    select from jsonb_array_elements_text(coalesce(config -> 'plainHeaders', '[]')) as plain where lower(plain) = lower(header.key)
  ) limit 1
$$;
