-- Deletes entries older than the setting audit_retention_days (365; 0: none), the oldest first, a bounded number at a time. Index: audit_log_pkey.
create or replace function holdfast_internal.purge_audit_log(max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  keep_days integer := holdfast_internal.setting_integer('audit_retention_days');
  purged integer;
begin
  if keep_days = 0 then
    return 0;
  end if;
  delete from holdfast_internal.audit_log where id = any (array(
    select oldest.id from (select id, at from holdfast_internal.audit_log order by id limit max_rows) as oldest
    where oldest.at < now() - make_interval(days => keep_days)
  ));
  get diagnostics purged = row_count;
  return purged;
end $$;
