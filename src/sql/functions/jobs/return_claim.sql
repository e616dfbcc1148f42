-- The response to a claim was lost: its runs are returned without counting a crash. Waits for a claim that is still in progress; a claim that the
-- network delayed is rejected later, by its number. Returns how many runs were returned.
create or replace function holdfast_internal.return_claim(me integer, lost_request bigint) returns integer
language plpgsql as $$
declare
  claims bigint[];
  returned bigint[];
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  update holdfast_internal.workers set min_request = greatest(min_request, lost_request + 1) where incarnation = me;
  claims := array(select id from holdfast_internal.run_claims where worker = me and request = lost_request);
  returned := holdfast_internal.runs_of_claims(claims);
  delete from holdfast_internal.run_claims where id = any (claims);
  perform holdfast_internal.return_runs(returned);
  return coalesce(cardinality(returned), 0);
end $$;
