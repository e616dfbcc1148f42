create or replace function holdfast_internal.retire_node(me integer) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  update holdfast_internal.shard_leases set incarnation = null, epoch = epoch + 1 where incarnation = me;
  delete from holdfast_internal.in_flight where incarnation = me;
  delete from holdfast_internal.nodes where incarnation = me;
end $$;
