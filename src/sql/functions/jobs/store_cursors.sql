-- Stores how far the claims of a queue have read. Adds the transactions that are running now to the gaps that are kept, also those that started after
-- the last one that ended: a snapshot doesn't list them, though their runs may be behind the cursor already. Transactions that start later get ids
-- above everything read here.
create or replace function holdfast_internal.store_cursors(
  lane integer, former_seq bigint, new_seq bigint, cursors bigint[], floors timestamptz[], new_horizon bigint, kept_xids xid8[], kept_ids bigint[],
  kept_floors timestamptz[], former_xids xid8[], former_horizon bigint, former_floors timestamptz[], seen pg_snapshot, seen_next bigint,
  tokens double precision, tokens_at timestamptz, fair_after text, job_tokens jsonb
) returns void
language plpgsql as $$
begin
  if pg_snapshot_xmin(seen)::text::bigint < seen_next then
    select kept_xids || coalesce(array_agg(running.xid), '{}'),
           kept_ids || coalesce(array_agg(former_horizon), '{}'),
           kept_floors || coalesce(array_agg((select min(floor) from unnest(former_floors) as floor)), '{}')
    into kept_xids, kept_ids, kept_floors
    from (
      select pg_snapshot_xip(seen)
      union all
      select begun::text::xid8 from generate_series(pg_snapshot_xmax(seen)::text::bigint, seen_next - 1) as begun
    ) as running (xid) where running.xid <> all (former_xids);
  end if;
  with former as (
    delete from holdfast_internal.queue_cursors as old where old.lane_id = lane and old.seq = former_seq
  )
  insert into holdfast_internal.queue_cursors (lane_id, seq, cursors, floors, horizon, gap_xids, gap_ids, gap_floors, tokens, tokens_at, fair_after,
                                              job_tokens)
  values (lane, new_seq, store_cursors.cursors, store_cursors.floors, new_horizon, kept_xids, kept_ids, kept_floors, store_cursors.tokens,
          case when store_cursors.tokens is not null then store_cursors.tokens_at end, store_cursors.fair_after, store_cursors.job_tokens);
end $$;
