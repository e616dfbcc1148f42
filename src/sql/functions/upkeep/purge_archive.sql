-- Deletes rows of default partitions past their retention, bodies that are no longer needed, the names of workers whose attempts are gone, and the
-- origins of replays; at most `max_rows` of each. Returns how many.
create or replace function holdfast_internal.purge_archive(max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  messages_end bigint := holdfast_internal.id_at(now() - make_interval(months => holdfast_internal.retention_months('messages')));
  attempts_end bigint := holdfast_internal.id_at(now() - make_interval(months => holdfast_internal.retention_months('attempts')));
  old bigint[];
  purged integer;
  total integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.retire'));
  -- A table before its partitions: a migration that adds a column locks them in this order, and would deadlock with this transaction otherwise.
  lock table only holdfast_internal.messages, only holdfast_internal.attempts in access share mode;
  -- Read once: a row that comes in between is left for the next call.
  old := array(select id from holdfast_internal.messages_default where id < messages_end order by id limit max_rows);
  perform holdfast_internal.copy_messages(array(
    select needed from holdfast_internal.needed_messages(old[1], old[cardinality(old)] + 1) as needed where needed = any (old)
  ));
  delete from holdfast_internal.messages_default where id = any (old);
  get diagnostics purged = row_count;
  total := total + purged;
  -- Attempts of a message that was scheduled long ahead, or pending for long, are kept as long after they started as any other.
  delete from holdfast_internal.attempts_default as old using (
    select delivery_id, attempt, incarnation from holdfast_internal.attempts_default as tried
    where delivery_id < attempts_end and started_at < holdfast_internal.time_of_id(attempts_end)
      and not exists (select from holdfast_internal.deliveries where id = tried.delivery_id)
      and not exists (select from holdfast_internal.runs where id = tried.delivery_id)
    order by delivery_id limit max_rows
  ) as few where (old.delivery_id, old.attempt, old.incarnation) = (few.delivery_id, few.attempt, few.incarnation);
  get diagnostics purged = row_count;
  total := total + purged;
  delete from holdfast_internal.past_workers where incarnation = any (array(
    select incarnation from holdfast_internal.past_workers where ended_at < holdfast_internal.time_of_id(attempts_end) order by ended_at limit max_rows
  ));
  delete from holdfast_internal.replays where ctid = any (array(
    select ctid from holdfast_internal.replays where created_at < holdfast_internal.time_of_id(attempts_end) order by created_at limit max_rows
  ));
  get diagnostics purged = row_count;
  total := total + purged;
  with looked_at as (
    select id from holdfast_internal.messages_kept where id > coalesce((select position from holdfast_internal.keeper_rounds where name = 'kept'), 0)
    order by id limit max_rows
  ), needed as (
    select holdfast_internal.needed_messages((select min(id) from looked_at), (select max(id) + 1 from looked_at)) as id
  ), gone as (
    delete from holdfast_internal.messages_kept where id in (select id from looked_at except select id from needed) returning id
  ), moved as (
    -- The next call continues here; after the last one it starts again.
    select holdfast_internal.keep_position('kept', case when count(*) < max_rows then 0 else max(id) end) from looked_at
  )
  select (select count(*) from gone) into purged from moved;
  return total + purged;
end $$;
