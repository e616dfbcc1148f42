create or replace function holdfast_internal.rights_of(kind text) returns setof text
language plpgsql stable as $$
begin
  return query
  select right_to from holdfast_internal.rights_of_app() as right_to where kind = 'app'
  union all select right_to from holdfast_internal.rights_of_monitor() as right_to where kind = 'monitor'
  union all select right_to from holdfast_internal.rights_of_admin() as right_to where kind = 'admin'
  union all select 'holdfast_internal.rights_of_' || kind;
end $$;
