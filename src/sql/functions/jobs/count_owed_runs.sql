-- Rows are counted to a million.
create or replace function holdfast_internal.count_owed_runs(lane integer) returns bigint
language sql stable as $$
  select (select count(*) from (select from holdfast_internal.runs where lane_id = lane limit 1000000) as counted)
    + (select coalesce(sum(last_id - first_id + 1), 0)::bigint from holdfast_internal.waiting_bundles where lane_id = lane)
    + (select coalesce(sum(upper(part) - lower(part)), 0)::bigint
       from holdfast_internal.run_claims as claim cross join unnest(claim.bundled) as part where claim.lane_id = lane)
$$;
