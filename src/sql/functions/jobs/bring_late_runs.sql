-- Makes runs due whose transactions ended after the cursor had passed their ids, a bounded number at a time. If some are left, their gap stays open
-- for the next claim.
create or replace function holdfast_internal.bring_late_runs(
  lane integer, inout ended xid8[], inout ended_id bigint, inout reset_floor timestamptz, inout kept_xids xid8[], inout kept_ids bigint[],
  inout kept_floors timestamptz[], cursors bigint[], looked_at timestamptz, out late integer
)
language plpgsql as $$
declare
  due constant timestamptz := looked_at - interval '1 microsecond';
begin
  late := 0;
  if ended_id >= (select max(cursor) from unnest(cursors) as cursor) then
    return;
  end if;
  with behind as (
    select candidate.id from generate_series(0, 3) as level cross join lateral (
      select run.id from holdfast_internal.runs as run
      where run.lane_id = lane and run.due_at is null
        and (run.priority, run.id) > (level, ended_id) and (run.priority, run.id) <= (level, cursors[level + 1])
        and run.published_by = any (ended)
      order by run.priority, run.id limit 5000 for update skip locked
    ) as candidate
  )
  update holdfast_internal.runs as run set due_at = due from behind where run.id = behind.id;
  get diagnostics late = row_count;
  late := late + holdfast_internal.take_out_late(lane, ended, ended_id, cursors, due);
  -- Runs are left: there were more than the limit, or another transaction had locked their rows.
  if exists (
    select from generate_series(0, 3) as level cross join lateral (
      select from holdfast_internal.runs as run
      where run.lane_id = lane and run.due_at is null
        and (run.priority, run.id) > (level, ended_id) and (run.priority, run.id) <= (level, cursors[level + 1])
        and run.published_by = any (ended) limit 1
    ) as behind
  ) or exists (select from holdfast_internal.late_bundles(lane, ended, ended_id, cursors)) then
    kept_xids := kept_xids || ended;
    kept_ids := kept_ids || array_fill(ended_id, array[cardinality(ended)]);
    kept_floors := kept_floors || array_fill(reset_floor, array[cardinality(ended)]);
  end if;
end $$;
