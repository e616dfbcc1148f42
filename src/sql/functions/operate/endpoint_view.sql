-- An endpoint's settings as stored in the audit log. Custom headers, and the query and a secret path of the URL, are left out, because they may be confidential.
create or replace function holdfast_internal.endpoint_view(endpoint holdfast_internal.endpoints) returns jsonb
language sql stable as $$
  select to_jsonb(endpoint) - '{id,created_at,updated_at,changed_xid,state,state_reason,state_changed_at,reenable_at,pauses}'::text[]
    || jsonb_build_object('config', endpoint.config
      || case when jsonb_typeof(endpoint.config -> 'headers') = 'object' then jsonb_build_object('headers',
           (select coalesce(jsonb_object_agg(key, '[redacted]'), '{}') from jsonb_each(endpoint.config -> 'headers'))) else '{}' end
      || case when jsonb_typeof(endpoint.config -> 'url') = 'string'
           then jsonb_build_object('url', holdfast_internal.shown_url(endpoint.config)) else '{}' end)
$$;
