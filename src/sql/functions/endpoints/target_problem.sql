-- A role that may change endpoints in SQL can't read their secrets, and must not have them sent to another host: an endpoint with
-- credentials keeps its host. A signature reveals no secret.
create or replace function holdfast_internal.target_problem(endpoint holdfast_internal.endpoints, changed jsonb) returns text
language sql stable as $$
  select 'config.url can''t lead to another host in SQL while the endpoint has credentials, which would be sent there: '
    'use the API, the CLI ("holdfast endpoints") or the SDK'
  where changed ? 'url'
    and substring(lower(changed ->> 'url') from '^https?://[^/]+')
      is distinct from substring(lower(coalesce(endpoint.config #>> '{url,shown}', endpoint.config ->> 'url')) from '^https?://[^/?#]+')
    and exists (select from holdfast_internal.endpoint_secrets where lane_id = endpoint.id and field not in ('signing.secret', 'url'))
$$;
