-- The headers of a preset beside the given ones, which take precedence (names are compared ignoring case); and their names as plain ones.
create or replace function holdfast_internal.preset_headers(extras jsonb, config jsonb) returns jsonb
language sql immutable as $$
  select jsonb_build_object(
    'headers', (
      select coalesce(jsonb_object_agg(given.key, given.value), '{}') from jsonb_each(extras -> 'headers') as given
      where not exists (select from jsonb_object_keys(coalesce(config -> 'headers', '{}')) as said where lower(said) = lower(given.key))
    ) || coalesce(config -> 'headers', '{}'),
    'plainHeaders', (
      select jsonb_agg(name order by first) from (
        select listed.name, min(listed.position) as first
        from jsonb_array_elements((extras -> 'plainHeaders') || coalesce(config -> 'plainHeaders', '[]')) with ordinality as listed (name, position)
        group by listed.name
      ) as names))
$$;
