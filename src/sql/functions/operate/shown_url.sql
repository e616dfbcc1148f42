-- The URL of a config as it may be shown, like `showEndpoint` of src/sdk/shown-endpoint.ts: without the values of its query, and only the origin where its path is secret.
-- Null for a config without a URL.
create or replace function holdfast_internal.shown_url(config jsonb) returns text
language sql immutable as $$
  select case
    when config -> 'secretPath' = 'true' then coalesce(substring(url.seen from '(?i)https?://[^/?#\\]+'), '') || '/[hidden]'
    when jsonb_typeof(config -> 'url') = 'string' then regexp_replace(url.seen, '\?.*$', '?[hidden]')
    else url.seen
  end
  from (select case jsonb_typeof(config -> 'url') when 'string' then config ->> 'url' else config #>> '{url,shown}' end as seen) as url
$$;
