-- A clean stop of a worker: runs that it still holds are returned without counting a crash. Returns their number.
create or replace function holdfast_internal.retire_worker(me integer) returns integer
language plpgsql as $$
declare
  left_over bigint[];
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), me);
  left_over := holdfast_internal.runs_of_claims(array(select id from holdfast_internal.run_claims where worker = me));
  delete from holdfast_internal.run_claims where worker = me;
  perform holdfast_internal.return_runs(left_over);
  delete from holdfast_internal.run_cancellations where worker = me;
  delete from holdfast_internal.run_progress where worker = me;
  delete from holdfast_internal.in_flight where incarnation = me;
  perform holdfast_internal.remove_worker(me);
  return coalesce(cardinality(left_over), 0);
end $$;
