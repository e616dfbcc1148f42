-- Makes runs of late bundles due, at most 5,000 at a time; returns how many.
create or replace function holdfast_internal.take_out_late(lane integer, ended xid8[], above bigint, cursors bigint[], due timestamptz) returns integer
language plpgsql as $$
declare
  max_runs constant integer := 5000;
  taken integer := 0;
  total integer;
  late record;
begin
  for late in select * from holdfast_internal.late_bundles(lane, ended, above, cursors) loop
    total := least(late.last_id - late.first_id + 1, max_runs - taken);
    perform holdfast_internal.cut_bundle(lane, late.last_id, late.first_id, total, due);
    taken := taken + total;
    exit when taken = max_runs;
  end loop;
  return taken;
end $$;
