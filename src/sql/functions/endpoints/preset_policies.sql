-- The policies of a preset: retry, request, circuit, timeoutMs. Installation-wide settings change `standard` only; another preset is chosen for its own values.
create or replace function holdfast_internal.preset_policies(preset text, site jsonb) returns jsonb
language sql stable as $$
  select policies || case when preset <> 'standard' then '{}' else jsonb_build_object(
    'retry', holdfast_internal.retry_over(policies -> 'retry', coalesce(site -> 'retry', '{}')),
    'circuit', (policies -> 'circuit') || coalesce(site -> 'circuit', '{}')) end
  from holdfast_internal.known_presets() as known where known.name = preset
$$;
