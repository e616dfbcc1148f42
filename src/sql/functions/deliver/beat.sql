-- The heartbeat, one round trip a second: reports that this node is alive, and returns the other nodes and the owners of shards. `is_known` is false
-- if this incarnation was declared dead. A heartbeat needn't survive a crash of the server, so its commit doesn't wait for the disk.
create or replace function holdfast_internal.beat(me integer, owed bigint)
returns table (is_known boolean, nodes jsonb, owners integer[], epochs bigint[], suspects boolean[])
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update holdfast_internal.nodes set beat = beat + 1, beat_at = clock_timestamp(), pending = owed where incarnation = me;
  is_known := found;
  perform holdfast_internal.advance_ids();
  select jsonb_agg(jsonb_build_object('incarnation', incarnation, 'name', name, 'beat', beat, 'isStopping', is_stopping))
  into nodes from holdfast_internal.nodes;
  select array_agg(lease.owner), array_agg(lease.epoch), array_agg(lease.is_suspect) into owners, epochs, suspects
  from (select coalesce(incarnation, 0) as owner, epoch, is_suspect from holdfast_internal.shard_leases order by shard) as lease;
  return next;
end $$;
