-- Rolls up the days of all endpoints in one call, for nodes of the previous version.
create or replace function holdfast_internal.roll_up_days(days_back integer) returns integer
language plpgsql as $$
declare
  looked_at integer;
  total integer := 0;
begin
  perform holdfast_internal.keep_position('rollup_lanes', 0);
  loop
    looked_at := holdfast_internal.roll_up_lanes(days_back, 1000);
    total := total + looked_at;
    exit when looked_at < 1000;
  end loop;
  return total;
end $$;
