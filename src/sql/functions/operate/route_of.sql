create or replace function holdfast_internal.route_of(route_name text) returns integer
language plpgsql stable as $$
declare
  route integer := (select id from holdfast_internal.routes where name = route_name);
begin
  if route is null then
    raise exception 'there is no route named "%"', route_name using errcode = 'HF005', hint = 'List them with: holdfast routes list';
  end if;
  return route;
end $$;
