-- The heartbeat thread of this worker reports that one of the runs `blocking` blocks its event loop. Runs that the worker has claimed and will not
-- start (`unbegun`) are returned without counting a crash. Returns their number. Indexes: workers_pkey, run_claims_worker, runs_pkey.
create or replace function holdfast_internal.report_blocked(me integer, blocking bigint[], unbegun bigint[]) returns integer
language plpgsql as $$
declare
  returned bigint[];
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  update holdfast_internal.workers set blocked_runs = blocking, blocked_at = coalesce(blocked_at, clock_timestamp()) where incarnation = me;
  perform holdfast_internal.take_out_of_claims(
    array(select id from holdfast_internal.run_claims where worker = me and bundled <> '{}'),
    holdfast_internal.id_ranges(array(select distinct id from unnest(unbegun) as id order by id))
  );
  returned := array(
    select held.id
    from (
      select listed.id, claim.id as claim_id from holdfast_internal.run_claims as claim cross join unnest(claim.run_ids) as listed (id)
      where claim.worker = me and listed.id = any (unbegun) order by listed.id
    ) as named
    cross join lateral (
      select run.id from holdfast_internal.runs as run where run.id = named.id and (run.due_at is null or run.claim_id = named.claim_id) for update
    ) as held
  );
  perform holdfast_internal.return_runs(returned);
  return cardinality(returned);
end $$;
