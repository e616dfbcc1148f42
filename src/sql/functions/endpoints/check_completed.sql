-- Refuses combinations of fields that are valid one by one but not together.
create or replace function holdfast_internal.check_completed(endpoint jsonb) returns void
language plpgsql stable as $$
declare
  header text := holdfast_internal.hidden_header(endpoint -> 'config');
  problem text := coalesce(
    holdfast_internal.retry_contradiction(endpoint #> '{settings,retry}', 'retry'),
    holdfast_internal.retry_contradiction(endpoint #> '{settings,request}', 'request'));
begin
  if problem is null and header is not null then
    problem := format('config.headers.%s is stored encrypted, which SQL can''t do: list its name in config.plainHeaders if anybody may see it, '
      'or use the API, the CLI ("holdfast endpoints") or the SDK', header);
  end if;
  if problem is null then
    select format('config.headers.%s is stored encrypted, which SQL can''t read: give its value too if anybody may see it, or leave it out of config.plainHeaders', stored.key)
    into problem
    from jsonb_each(coalesce(endpoint #> '{config,headers}', '{}')) as stored
    where stored.value @> '{"isSet": true}' and lower(stored.key) in (
      select lower(plain) from jsonb_array_elements_text(coalesce(endpoint #> '{config,plainHeaders}', '[]')) as plain
    ) limit 1;
  end if;
  if problem is null and endpoint #> '{config,secretPath}' = 'true' and jsonb_typeof(endpoint #> '{config,url}') = 'string' then
    problem := 'config.url is stored encrypted, because its path is secret, which SQL can''t do: use the API, the CLI ("holdfast endpoints") or the SDK';
  end if;
  if problem is not null then
    perform holdfast_internal.refuse_endpoint(problem);
  end if;
end $$;
