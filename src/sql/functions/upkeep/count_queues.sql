-- Counts the rows of every queue, `max_rows` a call, continuing where the last call stopped. Returns how many it read: fewer than `max_rows`
-- means that the round is complete, and owed_rows uses its result from then on. Index: runs_pkey.
create or replace function holdfast_internal.count_queues(max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
declare
  start bigint := coalesce((select position from holdfast_internal.keeper_rounds where name = 'count_queues'), 0);
  looked_at integer;
  reached bigint;
begin
  with next as materialized (
    select id, lane_id from holdfast_internal.runs where id > start order by id limit max_rows
  ), counted as (
    insert into holdfast_internal.queue_depths as known (lane_id, runs, counting)
    select lane_id, 0, count(*) from next group by lane_id
    on conflict (lane_id) do update set counting = known.counting + excluded.counting
  )
  select count(*), max(id) into looked_at, reached from next;
  perform holdfast_internal.keep_position('count_queues', case when looked_at < max_rows then 0 else reached end);
  if looked_at < max_rows then
    update holdfast_internal.queue_depths set runs = counting, counting = 0, counted_at = clock_timestamp();
  end if;
  return looked_at;
end $$;
