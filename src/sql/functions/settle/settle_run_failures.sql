-- Records all results of runs except successes. `action`: retry | dead | expire | cancel | release (returned unchanged, not counted). Returns the
-- runs whose decision was refused, because the claim is no longer this worker's.
create or replace function holdfast_internal.settle_run_failures(me integer, records jsonb, ended_claims bigint[]) returns bigint[]
language plpgsql as $$
declare
  held bigint[];
  key_lanes integer[];
begin
  perform holdfast_internal.commit_durably();
  perform holdfast_internal.lock_incarnation_shared(me);
  select locked.held, locked.key_lanes into held, key_lanes from holdfast_internal.hold_runs(me, records) as locked;
  perform holdfast_internal.record_run_attempts(me, records);
  -- Locks all queues whose keys may be freed before the first one is freed, in a fixed order.
  perform holdfast_internal.shut_claims(key_lanes);
  perform holdfast_internal.bury_runs(records, held, me);
  perform holdfast_internal.drop_runs(records, held);
  perform holdfast_internal.retry_runs(records, held);
  delete from holdfast_internal.run_cancellations where run_id = any (held);
  -- In broker mode, the node that records results doesn't know which runs of a dispatch are left.
  delete from holdfast_internal.run_claims as ended
  where ended.id = any (ended_claims) and ended.worker = me and ended.bundled = '{}'
    and (ended.dispatched_for is null or not holdfast_internal.holds_listed_runs(ended.id, ended.run_ids));
  return (select array_agg(r.id) from holdfast_internal.run_records(records) as r where r.id <> all (coalesce(held, '{}')));
end $$;
