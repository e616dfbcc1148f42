-- The first transaction that needs an id after a crash, failover or restore moves the sequences past all numbers that may have been assigned before.
-- A crash loses numbers that only unflushed transactions had drawn, and a lagging standby never received them. But nodes may have sent messages with
-- those ids, and receivers ignore an id that they know; processes may still run with those incarnations and claims.
-- Ids follow the clock, so the clock limits how far they can have got; five seconds beyond the last known one allow for a clock that was set back
-- meanwhile.
-- The other sequences are moved by far more than can have been drawn; lanes by 256, so that the order of shards (lane & 255) continues.
create or replace function holdfast_internal.begin_life() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- A session lock, released before this returns: a publisher's long transaction must not keep others from drawing numbers.
  perform pg_advisory_lock(hashtext('holdfast.begin_life'));
  if (select last_value from holdfast_internal.server_life) <> holdfast_internal.current_life() then
    perform setval('holdfast_internal.ids', greatest(holdfast_internal.id_at(clock_timestamp()), last_value + 4096 * 5000))
    from holdfast_internal.ids;
    perform setval('holdfast_internal.incarnations', last_value + 1000) from holdfast_internal.incarnations;
    perform setval('holdfast_internal.lanes', last_value + 256) from holdfast_internal.lanes;
    perform setval('holdfast_internal.run_claims_seq', last_value + 1000000) from holdfast_internal.run_claims_seq;
    perform setval('holdfast_internal.server_life', holdfast_internal.current_life());
  end if;
  perform pg_advisory_unlock(hashtext('holdfast.begin_life'));
end $$;
