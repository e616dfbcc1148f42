-- Records that this worker has started these dispatches, by their tokens (a claim and a run of it): from now on the worker's lease guards their runs.
-- Returns the claims of tokens that were no longer valid, because the dispatch ended, expired or was started elsewhere; not their runs, because a worker
-- may receive a run under two tokens. A worker that was declared dead has no lease: what it started is returned. Indexes: run_claims_pkey, runs_pkey.
create or replace function holdfast_internal.start_dispatched_v2(me integer, started_ids bigint[], tokens bigint[]) returns bigint[]
language plpgsql as $$
declare
  started_rows bigint[];
  held bigint[];
begin
  perform holdfast_internal.commit_durably();
  -- Burying the worker takes this lock exclusively.
  perform holdfast_internal.lock_incarnation_shared(me);
  if not exists (select from holdfast_internal.workers where incarnation = me) then
    perform holdfast_internal.end_dispatches(started_ids, tokens, array_fill('worker_lost'::text, array[cardinality(started_ids)]), '{}', 0);
    return tokens;
  end if;
  with begun as (
    update holdfast_internal.run_claims as claim set worker = me, claimed_at = clock_timestamp()
    from unnest(started_ids, tokens) as given (run_id, token)
    where claim.id = any (tokens) and claim.id = given.token and claim.worker = 0 and (given.run_id = any (claim.run_ids) or claim.bundled @> given.run_id)
    returning claim.run_ids
  )
  select array_agg(listed.id) into started_rows from begun cross join unnest(begun.run_ids) as listed (id);
  -- A cancellation that was requested while no worker held the run is sent with the next heartbeat. Such a run has a row.
  update holdfast_internal.run_cancellations set worker = me where run_id = any (started_rows);
  -- Also what was started before: a start may be reported twice.
  held := array(select claim.id from holdfast_internal.run_claims as claim where claim.id = any (tokens) and claim.worker = me);
  return array(select distinct token from unnest(tokens) as token where token <> all (held));
end $$;
