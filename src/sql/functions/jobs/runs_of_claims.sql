-- The runs that these claims still hold, with row locks; runs of bundles get rows. Locked one after the other, in the order of ids: a join could
-- start with a scan of all runs. Indexes: run_claims_pkey, runs_pkey.
create or replace function holdfast_internal.runs_of_claims(claims bigint[]) returns bigint[]
language plpgsql as $$
begin
  perform holdfast_internal.take_out_of_claims(claims);
  return (
    select array_agg(held.id)
    from (
      select listed.id, claim.id as claim_id from holdfast_internal.run_claims as claim cross join unnest(claim.run_ids) as listed (id)
      where claim.id = any (claims) order by listed.id
    ) as named
    cross join lateral (
      select run.id from holdfast_internal.runs as run where run.id = named.id and (run.due_at is null or run.claim_id = named.claim_id) for update
    ) as held
  );
end $$;
