-- Deletes rejected messages, of sources and of broker mode, older than the setting source_reject_retention_days (30; 0: none), the oldest first, a
-- bounded number at a time. Indexes: source_rejects_pkey, broker_rejects_pkey.
create or replace function holdfast_internal.purge_source_rejects(max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  keep_days integer := holdfast_internal.setting_integer('source_reject_retention_days');
  purged integer;
  purged_of_broker integer;
begin
  if keep_days = 0 then
    return 0;
  end if;
  delete from holdfast_internal.source_rejects where id = any (array(
    select oldest.id from (select id, received_at from holdfast_internal.source_rejects order by id limit max_rows) as oldest
    where oldest.received_at < now() - make_interval(days => keep_days)
  ));
  get diagnostics purged = row_count;
  delete from holdfast_internal.broker_rejects where id = any (array(
    select oldest.id from (select id, received_at from holdfast_internal.broker_rejects order by id limit max_rows) as oldest
    where oldest.received_at < now() - make_interval(days => keep_days)
  ));
  get diagnostics purged_of_broker = row_count;
  return purged + purged_of_broker;
end $$;
