-- Moves consecutive runs of a bundle into rows, which are due; the runs before and after them stay in bundles. The caller holds the lock of the
-- queue's claims.
create or replace function holdfast_internal.cut_bundle(lane integer, bundle bigint, first_run bigint, total integer, due timestamptz) returns void
language plpgsql as $$
declare
  whole record;
  last_run bigint := first_run + total - 1;
begin
  select * into strict whole from holdfast_internal.waiting_bundles where last_id = bundle;
  insert into holdfast_internal.runs (id, published_by, lane_id, job_id, priority, due_at)
  select run, whole.published_by, lane, whole.job_id, whole.priority, due from generate_series(first_run, last_run) as run;
  if first_run > whole.first_id then
    insert into holdfast_internal.run_bundles (lane_id, priority, first_id, last_id, job_id, published_by)
    values (lane, whole.priority, whole.first_id, first_run - 1, whole.job_id, whole.published_by);
  end if;
  if last_run < bundle then
    update holdfast_internal.run_bundles set first_id = last_run + 1 where last_id = bundle;
  else
    delete from holdfast_internal.run_bundles where last_id = bundle;
  end if;
end $$;
