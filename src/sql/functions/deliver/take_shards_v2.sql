-- Takes these shards from `from_incarnation` (0 = free), if it still owns them and, if it is another node, its heartbeat counter hasn't changed since
-- the observer saw it. A node takes shards from itself if the response to taking them was lost. `interrupted`: how many attempts of the dead node
-- were in flight in all of them, the same in each row.
create or replace function holdfast_internal.take_shards_v2(me integer, from_incarnation integer, seen_beat bigint, shards integer[])
returns table (shard smallint, epoch bigint, is_suspect boolean, interrupted integer)
language plpgsql as $$
declare
  is_from_dead boolean := from_incarnation not in (0, me);
  taken smallint[];
  epochs bigint[];
  suspects boolean[];
begin
  if from_incarnation <> 0 then
    perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), from_incarnation);
  end if;
  if is_from_dead then
    if exists (select from holdfast_internal.nodes where incarnation = from_incarnation and beat <> seen_beat) then
      return;
    end if;
    update holdfast_internal.suspects set crashes = crashes + 1, incarnation = null
    where incarnation = from_incarnation and (lane_id & 255) = any (shards);
  end if;
  with won as (
    update holdfast_internal.shard_leases as lease
    set incarnation = me, epoch = lease.epoch + 1, is_suspect = lease.is_suspect or is_from_dead
    where lease.shard = any (shards)
      and coalesce(lease.incarnation, 0) = from_incarnation
      and exists (select from holdfast_internal.nodes where incarnation = me)
    returning lease.shard, lease.epoch, lease.is_suspect
  )
  select array_agg(won.shard), array_agg(won.epoch), array_agg(won.is_suspect) into taken, epochs, suspects from won;
  interrupted := case when is_from_dead and taken is not null then holdfast_internal.interrupt_deliveries(from_incarnation, taken::integer[]) else 0 end;
  return query select row.shard, row.epoch, row.is_suspect, take_shards_v2.interrupted
  from unnest(taken, epochs, suspects) as row (shard, epoch, is_suspect);
end $$;
