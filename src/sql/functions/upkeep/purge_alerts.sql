-- Deletes resolved alerts and old notifications, a bounded number at a time.
create or replace function holdfast_internal.purge_alerts(keep_days integer, max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  purged integer;
begin
  delete from holdfast_internal.alerts where id in (
    select id from holdfast_internal.alerts where state = 'resolved' and resolved_at < now() - make_interval(days => keep_days)
    order by resolved_at limit max_rows
  );
  get diagnostics purged = row_count;
  delete from holdfast_internal.alert_notices where id in (
    select id from holdfast_internal.alert_notices where id < holdfast_internal.id_at(now() - make_interval(days => keep_days)) order by id limit max_rows
  );
  return purged;
end $$;
