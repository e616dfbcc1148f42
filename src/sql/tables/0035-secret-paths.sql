-- The path of Slack's URLs is the key to the channel: existing channels hide it too. Nodes of the version before ignore the field.
update holdfast_internal.endpoints as endpoint set changed_xid = pg_current_xact_id(), config = endpoint.config || '{"secretPath": true}'
  || case when endpoint.config #> '{url,shown}' is null then '{}' else jsonb_build_object('url', (endpoint.config -> 'url') || jsonb_build_object(
       'shown', coalesce(substring(endpoint.config #>> '{url,shown}' from '(?i)https?://[^/?#\\]+'), '') || '/[hidden]')) end
from holdfast_internal.alert_channels as channel
where channel.kind = 'slack' and endpoint.name = channel.endpoint and endpoint.transport = 'http';
