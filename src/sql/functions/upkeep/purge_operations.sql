-- Deletes old bulk actions that have ended, a bounded number at a time. Index: operations_state.
create or replace function holdfast_internal.purge_operations(keep_days integer, max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  purged integer;
begin
  delete from holdfast_internal.operations where id = any (array(
    select old.id from unnest(array['succeeded', 'failed', 'cancelled']) as ended (state)
    cross join lateral (
      select operation.id from holdfast_internal.operations as operation
      where operation.state = ended.state and operation.id < holdfast_internal.id_at(now() - make_interval(days => keep_days))
        and operation.finished_at < now() - make_interval(days => keep_days)
      order by operation.state, operation.id limit max_rows
    ) as old limit max_rows
  ));
  get diagnostics purged = row_count;
  return purged;
end $$;
