-- How many rows of runs a queue has: counted up to `cap`, above that by the last result of count_queues. Runs without a row are not included.
-- Indexes: one of runs_fresh, runs_due, runs_suspect, runs_targeted for each kind of row; every row is of one kind.
create or replace function holdfast_internal.owed_rows(lane integer, cap integer) returns bigint
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  counted bigint := (
    select count(*) from (
      (select from holdfast_internal.runs where lane_id = lane and due_at is null limit cap)
      union all (select from holdfast_internal.runs where lane_id = lane and due_at is not null and target is null and crashes = 0 limit cap)
      union all (select from holdfast_internal.runs where lane_id = lane and due_at is not null and crashes > 0 limit cap)
      union all (select from holdfast_internal.runs where lane_id = lane and target is not null and due_at is not null and crashes = 0 limit cap)
      limit cap
    ) as few
  );
begin
  return case when counted < cap then counted
    else greatest(counted, (select depth.runs from holdfast_internal.queue_depths as depth where depth.lane_id = lane)) end;
end $$;
