-- Starts a new term for the owner of shard 0; null when that is another node, or while a transaction of the previous leader is open.
create or replace function holdfast_internal.claim_leadership(me integer, shard_epoch bigint) returns bigint
language plpgsql as $$
declare
  new_term bigint;
begin
  if not pg_try_advisory_xact_lock(hashtext('holdfast.leader'), 0) then
    return null;
  end if;
  update holdfast_internal.leadership set
    term = term + 1, incarnation = me, since = clock_timestamp(),
    node = (select name from holdfast_internal.nodes where nodes.incarnation = me)
  where exists (select from holdfast_internal.shard_leases as lease where lease.shard = 0 and lease.incarnation = me and lease.epoch = shard_epoch)
  returning term into new_term;
  return new_term;
end $$;
