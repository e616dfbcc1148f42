-- Whether a body matches a route's filter. A body that PostgreSQL can't parse (a number out of range) matches none.
create or replace function holdfast_internal.meets_filter(body json, filter jsonpath) returns boolean
language plpgsql stable as $$
begin
  return coalesce(jsonb_path_match_tz(body::jsonb, filter, '{}', true), false);
exception when data_exception or program_limit_exceeded then
  return false;
end $$;
