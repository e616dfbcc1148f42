-- Changes of a config without the headers that stay as stored: the value of a secret header is shown as a placeholder only.
create or replace function holdfast_internal.without_marks(changed jsonb, stored jsonb) returns jsonb
language sql immutable as $$
  select case when jsonb_typeof(changed -> 'headers') is distinct from 'object' then changed else changed || jsonb_build_object('headers', (
    select coalesce(jsonb_object_agg(header.key, header.value), '{}') from jsonb_each(changed -> 'headers') as header
    where jsonb_typeof(header.value) = 'string' or header.value is distinct from stored #> array['headers', header.key])) end
$$;
