-- Deletes one-time schedules (`runAt`) that fired long enough ago, a bounded number at a time: applications create one for each reminder. Index: schedules_spent.
create or replace function holdfast_internal.purge_schedules(keep_days integer, max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  purged integer;
begin
  delete from holdfast_internal.schedules where id = any (array(
    select id from holdfast_internal.schedules where run_at is not null and next_at is null and run_at < now() - make_interval(days => keep_days)
      and last_at < now() - make_interval(days => keep_days)
    order by run_at limit max_rows for update skip locked
  ));
  get diagnostics purged = row_count;
  return purged;
end $$;
