-- Deletes expired results stored for Idempotency-Key, sessions and sign-in links, and keys that were revoked or expired long enough ago; a bounded number of each
-- at a time. Returns how many of the most numerous kind. Indexes: api_results_expiry, api_sessions_expiry; keys and links are few.
create or replace function holdfast_internal.purge_access(keep_days integer, max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  removed integer;
  purged integer;
begin
  delete from holdfast_internal.api_results where (owner, key) in (
    select owner, key from holdfast_internal.api_results where expires_at < now() order by expires_at limit max_rows for update skip locked
  );
  get diagnostics purged = row_count;
  delete from holdfast_internal.api_sessions where token_hash = any (array(
    select token_hash from holdfast_internal.api_sessions where expires_at < now() order by expires_at limit max_rows for update skip locked
  ));
  get diagnostics removed = row_count;
  purged := greatest(purged, removed);
  delete from holdfast_internal.sign_in_links where token_hash = any (array(
    select token_hash from holdfast_internal.sign_in_links where expires_at < now() order by token_hash limit max_rows for update skip locked
  ));
  get diagnostics removed = row_count;
  purged := greatest(purged, removed);
  delete from holdfast_internal.api_keys where id = any (array(
    select key.id from holdfast_internal.api_keys as key
    where least(key.revoked_at, key.expires_at) < now() - make_interval(days => keep_days)
      and not exists (select from holdfast_internal.api_sessions as session where session.key_id = key.id)
    order by key.id limit max_rows for update skip locked
  ));
  get diagnostics removed = row_count;
  return greatest(purged, removed);
end $$;
