-- Who owns which shard. A lease is (incarnation, epoch); every change of owner bumps the epoch. Ownership needs no leader.
-- Decisions hold a shared advisory lock on their incarnation while they check the epoch; takeover holds it exclusively while it
-- bumps the epoch. A plain epoch comparison isn't enough: an UPDATE that waits on a row lock would commit after the takeover.

create function holdfast.lock_incarnation_shared(incarnation integer) returns void
language sql as $$ select pg_advisory_xact_lock_shared(hashtext('holdfast.incarnation'), incarnation) $$;

create function holdfast.register_node(node_name text, node_version text) returns integer
language sql as $$
  insert into holdfast.nodes (incarnation, name, version) values (nextval('holdfast.incarnations'), node_name, node_version)
  returning incarnation
$$;

-- One round trip a second: says that this node lives, and returns who else does and who holds what.
-- No row for `me` means that somebody declared this incarnation dead. A beat needn't survive the server: nobody waits for the disk because of it.
create function holdfast.beat(me integer, owed bigint)
returns table (is_known boolean, nodes jsonb, owners integer[], epochs bigint[], suspects boolean[])
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update holdfast.nodes set beat = beat + 1, beat_at = clock_timestamp(), pending = owed where incarnation = me;
  is_known := found;
  perform holdfast.advance_ids();
  select jsonb_agg(jsonb_build_object('incarnation', incarnation, 'name', name, 'beat', beat, 'isStopping', is_stopping))
  into nodes from holdfast.nodes;
  select array_agg(lease.owner), array_agg(lease.epoch), array_agg(lease.is_suspect) into owners, epochs, suspects
  from (select coalesce(incarnation, 0) as owner, epoch, is_suspect from holdfast.shard_leases order by shard) as lease;
  return next;
end $$;

-- Takes these shards from `from_incarnation` (0 = free), if it still holds them and, when it is another live-looking node, if its
-- beat still stands where the observer saw it stand still. A node takes from itself what it never learned to be its own.
create function holdfast.take_shards(me integer, from_incarnation integer, seen_beat bigint, shards integer[])
returns table (shard smallint, epoch bigint, is_suspect boolean)
language plpgsql as $$
begin
  if from_incarnation <> 0 then
    perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), from_incarnation);
  end if;
  if from_incarnation not in (0, me) then
    if exists (select from holdfast.nodes where incarnation = from_incarnation and beat <> seen_beat) then
      return;
    end if;
    update holdfast.suspects set crashes = crashes + 1, incarnation = null
    where incarnation = from_incarnation and (lane_id & 255) = any (shards);
  end if;
  return query
  update holdfast.shard_leases as lease
  set incarnation = me, epoch = lease.epoch + 1, is_suspect = lease.is_suspect or from_incarnation not in (0, me)
  where lease.shard = any (shards)
    and coalesce(lease.incarnation, 0) = from_incarnation
    and exists (select from holdfast.nodes where incarnation = me)
  returning lease.shard, lease.epoch, lease.is_suspect;
end $$;

-- A clean hand-over: nothing is in flight any more on these shards.
create function holdfast.release_shards(me integer, shards integer[]) returns integer
language plpgsql as $$
declare
  released integer;
begin
  -- A decision that is being carried out ends first: the next owner takes free shards without asking.
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  update holdfast.shard_leases set incarnation = null, epoch = epoch + 1 where shard = any (shards) and incarnation = me;
  get diagnostics released = row_count;
  return released;
end $$;

-- Forgets a dead node once nobody needs its row: its shards are taken and its beat never moved again.
create function holdfast.bury_node(dead integer, seen_beat bigint) returns boolean
language plpgsql as $$
declare
  lost text;
begin
  delete from holdfast.nodes as node
  where node.incarnation = dead and node.beat = seen_beat
    and not exists (select from holdfast.shard_leases as lease where lease.incarnation = dead)
  returning node.name into lost;
  if lost is null then
    return false;
  end if;
  perform holdfast.audit('holdfast', 'node.lost', 'nodes', jsonb_build_object('name', lost, 'incarnation', dead));
  return true;
end $$;

create function holdfast.retire_node(me integer) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  update holdfast.shard_leases set incarnation = null, epoch = epoch + 1 where incarnation = me;
  delete from holdfast.nodes where incarnation = me;
end $$;

create function holdfast.clear_suspicion(me integer, shards integer[]) returns void
language sql as $$
  update holdfast.shard_leases set is_suspect = false where shard = any (shards) and incarnation = me;
  -- Settled in the moment of the crash: nobody else remembers them.
  delete from holdfast.suspects as suspect
  where (suspect.lane_id & 255) = any (shards)
    and not exists (select from holdfast.deliveries as owed where owed.id = suspect.delivery_id)
$$;

-- Which of these lanes a node may still decide about. Call it after lock_incarnation_shared.
create function holdfast.owned_lanes(me integer, lanes integer[], lane_epochs bigint[]) returns integer[]
language sql stable as $$
  select coalesce(array_agg(asked.lane), '{}')
  from unnest(lanes, lane_epochs) as asked (lane, epoch)
  join holdfast.shard_leases as lease on lease.shard = asked.lane & 255
  where lease.incarnation = me and lease.epoch = asked.epoch
$$;

-- Written before dispatch in careful mode. The crash that made the lane suspect counts as the first.
create function holdfast.record_suspects(me integer, delivery_ids bigint[], lanes integer[]) returns void
language sql as $$
  insert into holdfast.suspects (delivery_id, lane_id, incarnation, crashes)
  select id, lane, me, 1 from unnest(delivery_ids, lanes) as dispatched (id, lane)
  on conflict (delivery_id) do update set incarnation = me
$$;
