-- Notifies those owners of these lanes that are asleep. NOTIFY takes a database-wide lock at commit, so owners that are awake aren't notified.
create or replace function holdfast_internal.ring(lane_ids integer[]) returns void
language plpgsql as $$
begin
  perform holdfast_internal.notify('holdfast_node_' || awake.incarnation, '')
  from (
    select distinct node.incarnation
    from holdfast_internal.shard_leases as lease
    join holdfast_internal.nodes as node on node.incarnation = lease.incarnation and node.is_asleep
    where lease.shard = any (select lane & 255 from unnest(lane_ids) as lane)
  ) as awake;
end $$;
