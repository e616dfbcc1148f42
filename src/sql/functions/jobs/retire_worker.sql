-- A clean stop: nothing is claimed any more, or it goes back uncounted.
create or replace function holdfast_internal.retire_worker(me integer) returns integer
language plpgsql as $$
declare
  left_over bigint[];
  lane integer;
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  perform holdfast_internal.take_out_of_claims(array(select id from holdfast_internal.run_claims where worker = me));
  -- One after the other, in the order of ids: as a join it could begin with all runs that there are.
  select array_agg(held.id) into left_over
  from (
    select listed.id, claim.id as claim_id from holdfast_internal.run_claims as claim cross join unnest(claim.run_ids) as listed (id)
    where claim.worker = me order by listed.id
  ) as named
  cross join lateral (
    select run.id from holdfast_internal.runs as run where run.id = named.id and (run.due_at is null or run.claim_id = named.claim_id) for update
  ) as held;
  update holdfast_internal.runs set claim_id = null, due_at = clock_timestamp() where id = any (left_over);
  delete from holdfast_internal.run_claims where worker = me;
  perform holdfast_internal.cancel_returned(left_over);
  perform holdfast_internal.free_slots_of(left_over);
  delete from holdfast_internal.run_cancellations where worker = me;
  delete from holdfast_internal.run_progress where worker = me;
  delete from holdfast_internal.in_flight where incarnation = me;
  perform holdfast_internal.remove_worker(me);
  for lane in select distinct lane_id from holdfast_internal.runs where id = any (left_over) loop
    perform holdfast_internal.ring_workers(lane);
  end loop;
  return coalesce(cardinality(left_over), 0);
end $$;
