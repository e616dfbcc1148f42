-- Every run with a row that ends (success, failure for good, expiry, cancellation) is deleted here. The next runs of their keys may start.
-- Returns the rows as they were. The caller has locked them, and records why they ended. Index: runs_pkey.
create or replace function holdfast_internal.end_runs(chosen bigint[]) returns setof holdfast_internal.runs
language plpgsql as $$
declare
  ended holdfast_internal.runs[];
  key_lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
begin
  with gone as (
    delete from holdfast_internal.runs as run where run.id = any (chosen) returning run.*
  )
  select array_agg(gone), array_agg(lane_id) filter (where coalesce(ordering_key, concurrency_key) is not null),
         array_agg(ordering_key) filter (where coalesce(ordering_key, concurrency_key) is not null),
         array_agg(concurrency_key) filter (where coalesce(ordering_key, concurrency_key) is not null)
  into ended, key_lanes, ordering_keys, concurrency_keys from gone;
  if key_lanes is not null then
    perform holdfast_internal.free_keys(key_lanes, ordering_keys, concurrency_keys);
  end if;
  return query select * from unnest(ended);
end $$;
