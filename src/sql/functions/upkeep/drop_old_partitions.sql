-- All four steps of retention at once, in the caller's transaction; set a lock_timeout. Nodes run them one by one, every hour. Returns how many
-- partitions were dropped.
create or replace function holdfast.drop_old_partitions(retention_months integer default null) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  part text;
  dropped integer := 0;
begin
  if retention_months not between 1 and 1200 then
    raise exception 'retention must be 1 to 1200 months, not %', retention_months using errcode = '22023';
  end if;
  perform holdfast_internal.lock_archive();
  perform holdfast_internal.mark_retiring(retention_months);
  for part in select name from holdfast_internal.retiring_partitions order by from_id, name loop
    perform holdfast_internal.empty_partition(part);
    perform holdfast_internal.remove_partition(part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;
