create or replace function holdfast_internal.clear_suspicion(me integer, shards integer[]) returns void
language sql as $$
  update holdfast_internal.shard_leases set is_suspect = false where shard = any (shards) and incarnation = me;
  -- Deliveries that were settled at the moment of the crash: nothing else removes their rows.
  delete from holdfast_internal.suspects as suspect
  where (suspect.lane_id & 255) = any (shards)
    and not exists (select from holdfast_internal.deliveries as owed where owed.id = suspect.delivery_id)
$$;
