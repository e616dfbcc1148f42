-- Whether the claim still holds the run: it lists it, and the run was neither released nor claimed again.
create or replace function holdfast_internal.holds_run(claim bigint, me integer, run holdfast_internal.runs) returns boolean
language sql stable as $$
  select (run.due_at is null or run.claim_id = claim) and exists (
    select from holdfast_internal.run_claims as held where held.id = claim and held.worker = me and run.id = any (held.run_ids)
  )
$$;
