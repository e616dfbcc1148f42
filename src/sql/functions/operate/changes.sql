-- The differences between two states of an object, field by field.
create or replace function holdfast_internal.changes(before jsonb, after jsonb) returns jsonb
language sql immutable as $$
  select jsonb_build_object(
    'before', coalesce((select jsonb_object_agg(key, value) from jsonb_each(before) where value is distinct from after -> key), '{}'),
    'after', coalesce((select jsonb_object_agg(key, value) from jsonb_each(after) where value is distinct from before -> key), '{}')
  )
$$;
