-- A line break would start another header; characters outside Latin-1 can't be sent in HTTP; some names frame the request or carry its
-- identity (src/core/endpoints/reserved-headers.ts).
create or replace function holdfast_internal.header_problem(headers jsonb) returns text
language plpgsql immutable as $$
declare
  bad text;
begin
  if jsonb_typeof(headers) <> 'object' then
    return 'headers must be a JSON object of strings';
  end if;
  select name into bad from jsonb_each(headers) as header (name, value)
  where jsonb_typeof(value) <> 'string' or name !~ '^[-!#$%&''*+.^_`|~0-9A-Za-z]{1,128}$'
    or value #>> '{}' !~ '^[\t\u0020-\u007e\u00a0-\u00ff]*$' limit 1;
  if found then
    return format('header "%s" can not be sent: names take letters, digits and "-", values are texts of Latin-1 characters without line breaks', bad);
  end if;
  select name into bad from jsonb_object_keys(headers) as name
  where lower(name) in ('connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-connection', 'te', 'trailer',
                        'transfer-encoding', 'upgrade')
    or lower(name) like any (array['webhook-%', 'holdfast-%']) limit 1;
  if found then
    return format('header "%s" is set by Holdfast', bad);
  end if;
  if (select count(*) > 64 or sum(octet_length(name) + octet_length(value)) > 8192 from jsonb_each_text(headers) as header (name, value)) then
    return 'a message takes 64 headers at most, of 8192 bytes together';
  end if;
  return null;
end $$;
