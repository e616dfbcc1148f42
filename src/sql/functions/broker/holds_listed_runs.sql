-- Whether one of the runs that the claim lists is still its own: neither ended, nor returned or claimed again. Index: runs_pkey.
create or replace function holdfast_internal.holds_listed_runs(claim bigint, run_ids bigint[]) returns boolean
language plpgsql stable as $$
begin
  return exists (
    select from unnest(run_ids) as listed (id)
    cross join lateral (select from holdfast_internal.runs as run where run.id = listed.id and (run.due_at is null or run.claim_id = claim) offset 0) as held
  );
end $$;
