-- Moves the id sequence up to the clock, and after a crash or failover past all ids that may have been assigned before. Only forwards, only into existing partitions, and only by a second or
-- more: a concurrent session would have to draw four million ids between this check and setval to be overtaken.
create or replace function holdfast_internal.advance_ids() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  target bigint;
  current_id bigint;
  is_moved boolean := false;
begin
  if (select last_value from holdfast_internal.server_life) <> holdfast_internal.current_life() then
    perform holdfast_internal.begin_life();
  end if;
  -- A session lock, released before this returns: a publisher's long transaction must not keep others from advancing.
  if not pg_try_advisory_lock(hashtext('holdfast_internal.advance_ids')) then
    return false;
  end if;
  target := holdfast_internal.id_at(clock_timestamp());
  select last_value into current_id from holdfast_internal.ids;
  if target - current_id >= 4096 * 1000
    and exists (select from holdfast_internal.partition_ranges('messages') as part where part.from_id <= target and part.to_id > target)
  then
    perform setval('holdfast_internal.ids', target);
    is_moved := true;
  end if;
  perform pg_advisory_unlock(hashtext('holdfast_internal.advance_ids'));
  return is_moved;
end $$;
