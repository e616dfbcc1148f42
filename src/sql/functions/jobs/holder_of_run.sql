-- The worker that holds this run, or null. A run with its own row is in no claim's set, so the sets are not searched for it.
create or replace function holdfast_internal.holder_of_run(run_id bigint) returns integer
language sql stable as $$
  select case when exists (select from holdfast_internal.runs where id = run_id) then (
    select claim.worker from holdfast_internal.runs as run
    join holdfast_internal.run_claims as claim on claim.lane_id = run.lane_id and run.id = any (claim.run_ids)
    where run.id = run_id and (run.due_at is null or run.claim_id = claim.id)
    order by claim.id desc limit 1
  ) else (select claim.worker from holdfast_internal.run_claims as claim where claim.bundled @> run_id limit 1) end
$$;
