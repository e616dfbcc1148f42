-- How many runs of a queue have not ended, with a row or without. Rows are counted up to `cap`; a higher number is the last result of count_queues.
-- Indexes: see owed_rows; run_bundles_pkey, run_claims_lane.
create or replace function holdfast_internal.owed_runs_to(lane integer, cap integer) returns bigint
language sql stable as $$
  select holdfast_internal.owed_rows(lane, cap)
    + (select coalesce(sum(last_id - first_id + 1), 0)::bigint from holdfast_internal.waiting_bundles where lane_id = lane)
    + (select coalesce(sum(upper(part) - lower(part)), 0)::bigint
       from holdfast_internal.run_claims as claim cross join unnest(claim.bundled) as part where claim.lane_id = lane)
$$;
