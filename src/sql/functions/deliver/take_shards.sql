-- Takes these shards from `from_incarnation` (0 = free), if it still holds them and, when it is another live-looking node, if its
-- beat still stands where the observer saw it stand still. A node takes from itself what it never learned to be its own.
create or replace function holdfast_internal.take_shards(me integer, from_incarnation integer, seen_beat bigint, shards integer[])
returns table (shard smallint, epoch bigint, is_suspect boolean)
language plpgsql as $$
begin
  if from_incarnation <> 0 then
    perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), from_incarnation);
  end if;
  if from_incarnation not in (0, me) then
    if exists (select from holdfast_internal.nodes where incarnation = from_incarnation and beat <> seen_beat) then
      return;
    end if;
    update holdfast_internal.suspects set crashes = crashes + 1, incarnation = null
    where incarnation = from_incarnation and (lane_id & 255) = any (shards);
  end if;
  return query
  update holdfast_internal.shard_leases as lease
  set incarnation = me, epoch = lease.epoch + 1, is_suspect = lease.is_suspect or from_incarnation not in (0, me)
  where lease.shard = any (shards)
    and coalesce(lease.incarnation, 0) = from_incarnation
    and exists (select from holdfast_internal.nodes where incarnation = me)
  returning lease.shard, lease.epoch, lease.is_suspect;
end $$;
