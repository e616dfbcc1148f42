-- Removes a dead node once its row is no longer needed: its shards are taken over and its heartbeat has not moved since.
create or replace function holdfast_internal.bury_node(dead integer, seen_beat bigint) returns boolean
language plpgsql as $$
declare
  lost text;
begin
  delete from holdfast_internal.nodes as node
  where node.incarnation = dead and node.beat = seen_beat
    and not exists (select from holdfast_internal.shard_leases as lease where lease.incarnation = dead)
  returning node.name into lost;
  if lost is null then
    return false;
  end if;
  delete from holdfast_internal.in_flight where incarnation = dead;
  perform holdfast_internal.audit('holdfast', 'node.lost', 'nodes', jsonb_build_object('name', lost, 'incarnation', dead));
  return true;
end $$;
