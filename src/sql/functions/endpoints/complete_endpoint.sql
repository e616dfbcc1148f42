-- An endpoint with all defaults filled in: the given value, else its preset's, else the installation's, else the default. `parseEndpoint` of
-- src/core/endpoints/endpoint-config.ts does the same for the API.
create or replace function holdfast_internal.complete_endpoint(said jsonb, site jsonb) returns jsonb
language plpgsql stable as $$
declare
  preset text := coalesce(said ->> 'preset', 'standard');
  transport text := coalesce(said ->> 'transport', 'http');
  policies jsonb := holdfast_internal.preset_policies(preset, site);
  extras jsonb := (select known.extras from holdfast_internal.known_presets() as known where known.name = preset);
  config jsonb := coalesce(said -> 'config', '{}');
  hold_on jsonb := coalesce(said -> 'holdOn', extras -> 'holdOn');
  request jsonb := (policies -> 'request') || coalesce(said -> 'request', '{}');
begin
  config := jsonb_build_object('timeoutMs', policies -> 'timeoutMs') || config
    || case when extras ? 'classify' then jsonb_build_object('classify', (extras -> 'classify') || coalesce(config -> 'classify', '{}')) else '{}' end
    || case when transport = 'http' and extras ? 'headers' then holdfast_internal.preset_headers(extras, config) else '{}' end
    || case when transport = 'http' and not config ? 'signing' then '{"signing": {"scheme": "none"}}'::jsonb else '{}' end;
  return jsonb_build_object(
    'name', said -> 'name', 'transport', transport, 'preset', preset, 'tenant', said -> 'tenant', 'contact', said -> 'contact',
    'tags', coalesce(said -> 'tags', '[]'), 'eventTypes', coalesce(said -> 'eventTypes', '[]'), 'config', config,
    'settings', holdfast_internal.settings_over(said, site) || jsonb_build_object(
      'retry', holdfast_internal.retry_over(policies -> 'retry', coalesce(said -> 'retry', '{}')),
      'request', request || holdfast_internal.implied_delays(request, coalesce(said -> 'request', '{}')),
      'circuit', (policies -> 'circuit') || coalesce(said -> 'circuit', '{}'),
      'batch', case
        when not said ? 'batch' then extras -> 'batch'
        when jsonb_typeof(said -> 'batch') = 'object' then '{"maxWaitMs": 1000}'::jsonb || jsonb_strip_nulls(said -> 'batch')
      end)
      -- Left out if neither the endpoint nor its preset sets it: older nodes don't know it.
      || case when hold_on = '[]' then '{}' else jsonb_build_object('holdOn', hold_on) end);
end $$;
