create or replace function holdfast_internal.delete_expired_secrets() returns integer
language plpgsql as $$
declare
  deleted integer;
begin
  delete from holdfast_internal.endpoint_secrets where expires_at <= clock_timestamp();
  get diagnostics deleted = row_count;
  return deleted;
end $$;
