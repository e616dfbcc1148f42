create or replace function holdfast_internal.lane_of(endpoint_name text) returns integer
language plpgsql stable as $$
declare
  lane integer := (select id from holdfast_internal.endpoints where name = endpoint_name);
begin
  if lane is null then
    raise exception 'there is no endpoint named "%"', endpoint_name using errcode = 'HF001', hint = 'List them with: holdfast endpoints list';
  end if;
  return lane;
end $$;
