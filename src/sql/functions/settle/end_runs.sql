-- Every run with a row that ends (success, failure for good, expiry, cancellation) is deleted here or in settle_run_successes. The next runs of their
-- keys may start. Returns the rows as they were. The caller has locked them, and records why they ended.
create or replace function holdfast_internal.end_runs(chosen bigint[]) returns setof holdfast_internal.runs
language plpgsql as $$
declare
  ended constant holdfast_internal.runs[] := holdfast_internal.remove_runs(chosen);
begin
  perform holdfast_internal.free_keys_of(ended);
  return query select * from unnest(ended);
end $$;
