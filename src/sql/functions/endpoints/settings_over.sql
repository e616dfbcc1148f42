-- The settings with defaults, overridden by the installation's and the endpoint's values; and the optional ones that the endpoint sets.
create or replace function holdfast_internal.settings_over(said jsonb, site jsonb) returns jsonb
language sql stable as $$
  select coalesce(jsonb_object_agg(known.name, case
    when jsonb_typeof(known.fallback) = 'object' then known.fallback || coalesce(site -> known.name, '{}') || coalesce(said -> known.name, '{}')
    else coalesce(said -> known.name, known.fallback) end), '{}')
  from holdfast_internal.endpoint_settings() as known
  where known.fallback is not null or said ? known.name
$$;
