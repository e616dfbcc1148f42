-- The effects of successes and failures on circuits. Returns the lanes that must be read again. Nodes of the previous version send a tally as `run`.
create or replace function holdfast_internal.settle_tallies(me integer, batch bigint, tallies jsonb) returns integer[]
language plpgsql as $$
declare
  given record;
  changed integer[] := '{}';
begin
  -- A batch whose response was lost is sent again: its records are checked one by one, its tallies by the number of the batch. The node's row is
  -- written last, because a heartbeat waits for the transaction that has written it.
  perform pg_advisory_xact_lock(hashtext('holdfast_internal.settle'), me);
  if not exists (select from holdfast_internal.nodes where incarnation = me and settled_batch < batch) then
    return array(select (r ->> 'lane')::integer from jsonb_array_elements(tallies) as r);
  end if;
  for given in
    select (r ->> 'lane')::integer as lane, r, lease.epoch is not null as is_owned
    from jsonb_array_elements(tallies) as r
    left join holdfast_internal.shard_leases as lease
      on lease.shard = (r ->> 'lane')::integer & 255 and lease.incarnation = me and lease.epoch = (r ->> 'epoch')::bigint
    order by 1
  loop
    begin
      -- If an open transaction has locked this endpoint, don't wait long for it: these results are older than what it decides.
      perform set_config('lock_timeout', '100ms', true);
      if not given.is_owned or holdfast_internal.record_tally(
        given.lane, given.r -> 'circuit', coalesce(given.r -> 'tally', given.r -> 'run'), given.r -> 'health', given.r -> 'suspension', 'node:' || me
      ) then
        changed := changed || given.lane;
      end if;
    exception when lock_not_available then
      changed := changed || given.lane;
      raise log 'holdfast: the circuit of lane % is locked; its latest results are not counted', given.lane;
    end;
  end loop;
  perform set_config('lock_timeout', '0', true);
  update holdfast_internal.nodes set settled_batch = batch where incarnation = me and settled_batch < batch;
  return changed;
end $$;
