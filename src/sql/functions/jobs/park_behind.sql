-- More due runs of the keys that these parked runs wait for, a bounded number, to be parked at once: otherwise each claim would park a few, and runs
-- behind them would wait. Indexes: runs_pkey, runs_concurrent, runs_ordered.
create or replace function holdfast_internal.park_behind(lane integer, parked bigint[], looked_at timestamptz) returns bigint[]
language plpgsql as $$
declare
  max_rows constant integer := 5000;
begin
  return array(
    select behind.id
    from (
      select run.ordering_key, run.concurrency_key, min(run.id) as first_id
      from (select * from holdfast_internal.runs where id = any (parked) offset 0) as run group by 1, 2
    ) as blocked
    cross join lateral (
      (
        select run.id from holdfast_internal.runs as run
        where run.concurrency_key = blocked.concurrency_key and run.lane_id = lane and run.claim_id is null and run.due_at <= looked_at
        limit max_rows
      )
      union all
      (
        select run.id from holdfast_internal.runs as run
        where run.ordering_key = blocked.ordering_key and run.lane_id = lane and run.id > blocked.first_id and run.claim_id is null and run.due_at <= looked_at
        order by run.id limit max_rows
      )
    ) as behind limit max_rows
  );
end $$;
