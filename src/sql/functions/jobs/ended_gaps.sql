-- Splits the transactions that were running at earlier claims into those that have ended since, which may have left runs behind the cursor and due
-- runs below the floor, and those that are still running (`kept_…`).
create or replace function holdfast_internal.ended_gaps(
  gap_xids xid8[], gap_ids bigint[], gap_floors timestamptz[], seen pg_snapshot, out ended xid8[], out ended_id bigint, out reset_floor timestamptz,
  out kept_xids xid8[], out kept_ids bigint[], out kept_floors timestamptz[]
)
language plpgsql as $$
begin
  if gap_xids = '{}' then
    kept_xids := '{}';
    kept_ids := '{}';
    kept_floors := '{}';
    return;
  end if;
  select array_agg(gap.xid) filter (where pg_visible_in_snapshot(gap.xid, seen)),
         min(gap.id) filter (where pg_visible_in_snapshot(gap.xid, seen)),
         min(gap.floor) filter (where pg_visible_in_snapshot(gap.xid, seen)),
         coalesce(array_agg(gap.xid) filter (where not pg_visible_in_snapshot(gap.xid, seen)), '{}'),
         coalesce(array_agg(gap.id) filter (where not pg_visible_in_snapshot(gap.xid, seen)), '{}'),
         coalesce(array_agg(gap.floor) filter (where not pg_visible_in_snapshot(gap.xid, seen)), '{}')
  into ended, ended_id, reset_floor, kept_xids, kept_ids, kept_floors
  from unnest(gap_xids, gap_ids, gap_floors) as gap (xid, id, floor);
end $$;
