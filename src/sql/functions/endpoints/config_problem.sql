-- The problem of the config fields that are given in SQL; null if there is none. Missing fields are checked in whole configs only.
create or replace function holdfast_internal.config_problem(transport text, config jsonb, is_whole boolean) returns text
language plpgsql stable as $$
declare
  schema jsonb := (select known.schema from holdfast_internal.endpoint_schemas() as known where known.name = transport and known.name <> 'endpoint');
  problem text;
begin
  if schema is null then
    return format('transport %s can''t be checked in SQL, which knows %s: use the API, the CLI ("holdfast endpoints") or the SDK', to_json(transport),
      (select string_agg(known.name, ', ') from holdfast_internal.endpoint_schemas() as known where known.name <> 'endpoint'));
  end if;
  if config ? 'tls' and transport = 'http' then
    return 'config.tls can''t be checked in SQL: use the API, the CLI ("holdfast endpoints") or the SDK';
  end if;
  if config ? 'secretPath' and transport = 'http' then
    return 'config.secretPath can''t be set in SQL, which can''t encrypt the URL: use the API, the CLI ("holdfast endpoints") or the SDK';
  end if;
  problem := holdfast_internal.value_problem(config, case when is_whole then schema else schema - 'required' end, 'config');
  if problem is not null or transport <> 'http' then
    return problem;
  end if;
  select format('config.headers.%s is set by Holdfast and can not be configured', header) into problem
  from jsonb_object_keys(coalesce(config -> 'headers', '{}')) as header
  where lower(header) = any ('{connection,content-length,expect,host,keep-alive,te,trailer,transfer-encoding,upgrade,http2-settings}')
    or lower(header) ~ '^(proxy|webhook|holdfast)-' limit 1;
  return problem;
end $$;
