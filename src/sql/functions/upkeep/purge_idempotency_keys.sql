-- Deletes idempotency keys whose window is over, a bounded number at a time. Index: idempotency_keys_expiry.
create or replace function holdfast_internal.purge_idempotency_keys(max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  purged integer;
begin
  -- By ctid, which doesn't change while the rows are locked.
  delete from holdfast_internal.idempotency_keys where ctid = any (array(
    select ctid from holdfast_internal.idempotency_keys where expires_at <= now() order by expires_at limit max_rows for update skip locked
  ));
  get diagnostics purged = row_count;
  return purged;
end $$;
