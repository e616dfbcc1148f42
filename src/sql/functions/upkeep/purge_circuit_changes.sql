-- Deletes old changes of circuits, the oldest first, a bounded number at a time. Index: circuit_changes_pkey.
create or replace function holdfast_internal.purge_circuit_changes(keep_days integer, max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  purged integer;
begin
  delete from holdfast_internal.circuit_changes where id = any (array(
    select oldest.id from (select id, at from holdfast_internal.circuit_changes order by id limit max_rows) as oldest
    where oldest.at < now() - make_interval(days => keep_days)
  ));
  get diagnostics purged = row_count;
  return purged;
end $$;
