-- The value of a config at the path of a secret, like signing.secret or headers.x-team. The name of a header may have dots.
create or replace function holdfast_internal.config_field(config jsonb, field text) returns jsonb
language sql immutable as $$
  select case when field like 'headers.%' then config #> array['headers', substr(field, 9)] else config #> string_to_array(field, '.') end
$$;
