-- Deletes rows past their retention, a bounded number at a time. Index: rollups_age.
create or replace function holdfast_internal.purge_rollups(max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  purged integer := 0;
  removed integer;
  kept record;
begin
  for kept in select * from (values (1, interval '25 hours'), (2, interval '35 days'), (3, interval '400 days')) as given (period, age) loop
    delete from holdfast_internal.rollups where ctid = any (array(
      select ctid from holdfast_internal.rollups where period = kept.period and starts_at < now() - kept.age order by starts_at limit max_rows
    ));
    get diagnostics removed = row_count;
    purged := purged + removed;
  end loop;
  delete from holdfast_internal.rollup_flushes as flush
  where not exists (select from holdfast_internal.nodes as node where node.incarnation = flush.incarnation);
  -- Written by nodes or workers after they were declared dead.
  delete from holdfast_internal.in_flight as note
  where not exists (select from holdfast_internal.nodes as node where node.incarnation = note.incarnation)
    and not exists (select from holdfast_internal.workers as worker where worker.incarnation = note.incarnation);
  return purged;
end $$;
