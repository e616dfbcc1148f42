-- Ends those of these runs that wait in bundles though they have succeeded: whoever ran them had claimed them, but this server has taken over from one
-- that failed, or was restored, and doesn't know of it. Returns how many. `lanes` may hold one for all.
create or replace function holdfast_internal.end_waiting(run_ids bigint[], lanes integer[]) returns integer
language plpgsql as $$
declare
  waiting bigint[] := array(
    select done.id from unnest(run_ids, lanes) as done (id, lane)
    where exists (select from holdfast_internal.bundle_of(done.id) as bundle where bundle.lane_id = coalesce(done.lane, lanes[1]))
    order by done.id
  );
  ended integer;
begin
  perform holdfast_internal.take_out(each) from unnest(waiting) as each;
  delete from holdfast_internal.runs where id = any (waiting);
  get diagnostics ended = row_count;
  return ended;
end $$;
