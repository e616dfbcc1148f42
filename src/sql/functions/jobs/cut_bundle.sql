-- Moves consecutive runs of a bundle into rows, which are due, or set aside for their job (`due` null); the runs before and after them stay in bundles.
-- The caller holds the lock of the queue's claims.
create or replace function holdfast_internal.cut_bundle(lane integer, bundle bigint, first_run bigint, total integer, due timestamptz) returns void
language plpgsql as $$
declare
  whole record;
  last_run bigint := first_run + total - 1;
  -- A variable is unpacked once, not for each run.
  keys text[];
begin
  select * into strict whole from holdfast_internal.waiting_bundles where last_id = bundle;
  keys := whole.ordering_keys;
  insert into holdfast_internal.runs (id, published_by, lane_id, job_id, priority, due_at, is_aside, ordering_key)
  select run, whole.published_by, lane, whole.job_id, whole.priority, coalesce(due, 'infinity'), due is null, keys[run - whole.before_keys]
  from generate_series(first_run, last_run) as run;
  if first_run > whole.first_id then
    insert into holdfast_internal.run_bundles (lane_id, priority, first_id, last_id, job_id, published_by, ordering_keys, before_keys)
    values (lane, whole.priority, whole.first_id, first_run - 1, whole.job_id, whole.published_by,
            keys[whole.first_id - whole.before_keys : first_run - 1 - whole.before_keys], case when keys is not null then whole.first_id - 1 end);
  end if;
  if last_run < bundle then
    update holdfast_internal.run_bundles set first_id = last_run + 1 where last_id = bundle;
  else
    delete from holdfast_internal.run_bundles where last_id = bundle;
  end if;
end $$;
