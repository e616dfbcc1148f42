-- Like delete_endpoint_v2; returns how many it cancelled at once.
create or replace function holdfast_internal.delete_endpoint(endpoint_name text, force boolean default false, actor text default current_user) returns bigint
language plpgsql as $$
begin
  return (select cancelled from holdfast_internal.delete_endpoint_v2(endpoint_name, force, actor));
end $$;
