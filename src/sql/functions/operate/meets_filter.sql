-- Whether a route's filter lets a body through. A body that PostgreSQL can't look into (a number beyond all bounds) is let through by none.
create or replace function holdfast_internal.meets_filter(body json, filter jsonpath) returns boolean
language plpgsql stable as $$
begin
  return coalesce(jsonb_path_match_tz(body::jsonb, filter, '{}', true), false);
exception when data_exception or program_limit_exceeded then
  return false;
end $$;
