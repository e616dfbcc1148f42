-- Ends those of these runs that wait in bundles though they have succeeded: whoever ran them had claimed them, but this server has taken over from one
-- that failed, or was restored, and doesn't know of it. Returns how many.
create or replace function holdfast_internal.end_waiting(run_ids bigint[]) returns integer
language plpgsql as $$
declare
  waiting bigint[] := array(select each from unnest(run_ids) as each where exists (select from holdfast_internal.bundle_of(each)) order by each);
  ended integer;
begin
  perform holdfast_internal.take_out(each) from unnest(waiting) as each;
  delete from holdfast_internal.runs where id = any (waiting);
  get diagnostics ended = row_count;
  return ended;
end $$;
