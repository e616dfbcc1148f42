-- How many runs of the queue workers hold, started or not. Used for queues with limits only.
create or replace function holdfast_internal.count_claimed(lane integer) returns integer
language sql stable as $$
  select (
    (
      select count(*)
      from holdfast_internal.run_claims as claim cross join unnest(claim.run_ids) as held (id)
      join holdfast_internal.runs as run on run.id = held.id and (run.due_at is null or run.claim_id = claim.id)
      where claim.lane_id = lane
    ) + (
      select coalesce(sum(upper(part) - lower(part)), 0)
      from holdfast_internal.run_claims as claim cross join unnest(claim.bundled) as part where claim.lane_id = lane
    )
  )::integer
$$;
