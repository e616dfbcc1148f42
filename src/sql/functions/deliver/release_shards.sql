-- A clean release: nothing is in flight any more on these shards.
create or replace function holdfast_internal.release_shards(me integer, shards integer[]) returns integer
language plpgsql as $$
declare
  released integer;
begin
  -- A decision in progress ends first: the next owner takes free shards without a check.
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  update holdfast_internal.shard_leases set incarnation = null, epoch = epoch + 1 where shard = any (shards) and incarnation = me;
  get diagnostics released = row_count;
  return released;
end $$;
