-- The answer to a claim didn't arrive: what it took goes back uncounted. One that is still on its way is waited for, and one that the network
-- held up finds its number refused. Returns how many went back.
create or replace function holdfast_internal.return_claim(me integer, lost_request bigint) returns integer
language plpgsql as $$
declare
  returned bigint[];
  lane integer;
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  update holdfast_internal.workers set min_request = greatest(min_request, lost_request + 1) where incarnation = me;
  perform holdfast_internal.take_out_of_claims(array(select id from holdfast_internal.run_claims where worker = me and request = lost_request));
  -- One after the other, in the order of ids: as a join it could begin with all runs that there are.
  select array_agg(held.id) into returned
  from (
    select listed.id, claim.id as claim_id from holdfast_internal.run_claims as claim cross join unnest(claim.run_ids) as listed (id)
    where claim.worker = me and claim.request = lost_request order by listed.id
  ) as named
  cross join lateral (
    select run.id from holdfast_internal.runs as run where run.id = named.id and (run.due_at is null or run.claim_id = named.claim_id) for update
  ) as held;
  update holdfast_internal.runs set claim_id = null, due_at = clock_timestamp() where id = any (returned);
  delete from holdfast_internal.run_claims where worker = me and request = lost_request;
  perform holdfast_internal.cancel_returned(returned);
  perform holdfast_internal.free_slots_of(returned);
  for lane in select distinct lane_id from holdfast_internal.runs where id = any (returned) loop
    perform holdfast_internal.ring_workers(lane);
  end loop;
  return coalesce(cardinality(returned), 0);
end $$;
