-- A page of endpoints by name, after `after_name`. Index: endpoints_name_key.
create or replace function holdfast_internal.endpoint_page(after_name text, max_rows integer, only_tag text, only_tenant text, only_state text)
returns setof holdfast_internal.endpoints
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
begin
  return query
  select * from holdfast_internal.endpoints as endpoint
  where endpoint.name > after_name and (only_tag is null or only_tag = any (endpoint.tags))
    and (only_tenant is null or endpoint.tenant = only_tenant) and (only_state is null or endpoint.state = only_state)
  order by endpoint.name limit max_rows;
end $$;
