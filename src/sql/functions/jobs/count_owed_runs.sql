-- Rows are counted to 100,000, beyond that as they were counted within the last minute.
create or replace function holdfast_internal.count_owed_runs(lane integer) returns bigint
language sql stable as $$
  select holdfast_internal.owed_rows(lane, 100000)
    + (select coalesce(sum(last_id - first_id + 1), 0)::bigint from holdfast_internal.waiting_bundles where lane_id = lane)
    + (select coalesce(sum(upper(part) - lower(part)), 0)::bigint
       from holdfast_internal.run_claims as claim cross join unnest(claim.bundled) as part where claim.lane_id = lane)
$$;
