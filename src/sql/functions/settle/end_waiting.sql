-- Ends those of these runs that wait in bundles though they have succeeded: their claim was lost when this server took over from one that failed, or
-- was restored. Returns how many. `lanes` may have one element for all.
create or replace function holdfast_internal.end_waiting(run_ids bigint[], lanes integer[]) returns integer
language plpgsql as $$
declare
  waiting bigint[] := array(
    select done.id from unnest(run_ids, lanes) as done (id, lane)
    where exists (select from holdfast_internal.bundle_of(done.id) as bundle where bundle.lane_id = coalesce(done.lane, lanes[1]))
    order by done.id
  );
begin
  perform holdfast_internal.take_out(each) from unnest(waiting) as each;
  return (select count(*) from holdfast_internal.end_runs(waiting));
end $$;
