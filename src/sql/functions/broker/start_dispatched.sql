-- Records that this worker has started these dispatches, by their tokens (a claim and a run of it): from now on the worker's lease guards their runs.
-- Returns the runs of tokens that were no longer valid, because the dispatch ended, expired or was started elsewhere. A worker that was declared dead
-- has no lease: what it started is returned. Indexes: run_claims_pkey, runs_pkey.
create or replace function holdfast_internal.start_dispatched(me integer, started_ids bigint[], tokens bigint[]) returns bigint[]
language plpgsql as $$
declare
  started bigint[];
  started_rows bigint[];
  lost bigint[];
begin
  perform holdfast_internal.commit_durably();
  -- Burying the worker takes this lock exclusively.
  perform holdfast_internal.lock_incarnation_shared(me);
  if not exists (select from holdfast_internal.workers where incarnation = me) then
    perform holdfast_internal.end_dispatches(started_ids, tokens, array_fill('worker_lost'::text, array[cardinality(started_ids)]), '{}', 0);
    return started_ids;
  end if;
  with begun as (
    update holdfast_internal.run_claims as claim set worker = me, claimed_at = clock_timestamp()
    from unnest(started_ids, tokens) as given (run_id, token)
    where claim.id = any (tokens) and claim.id = given.token and claim.worker = 0 and (given.run_id = any (claim.run_ids) or claim.bundled @> given.run_id)
    returning claim.id, claim.run_ids
  )
  select array_agg(distinct begun.id), array_agg(listed.id) into started, started_rows from begun left join unnest(begun.run_ids) as listed (id) on true;
  -- A cancellation that was requested while no worker held the run is sent with the next heartbeat. Such a run has a row.
  update holdfast_internal.run_cancellations set worker = me where run_id = any (started_rows);
  select array_agg(given.run_id) into lost from unnest(started_ids, tokens) as given (run_id, token)
  where given.token <> all (coalesce(started, '{}'))
    -- Unless the start was reported twice.
    and not exists (select from holdfast_internal.run_claims as claim where claim.id = given.token and claim.worker = me);
  return coalesce(lost, '{}');
end $$;
