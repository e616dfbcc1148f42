-- The first fair key of a queue after `after` (null: of all keys) that has waiting runs. Index: runs_fair.
create or replace function holdfast_internal.next_fair_key(lane integer, after text) returns text
language plpgsql stable as $$
begin
  return (
    select run.fair_key from holdfast_internal.runs as run
    where run.lane_id = lane and run.fair_key is not null and run.fair_key > coalesce(after, '') and run.due_at = 'infinity' and run.claim_id is null
      and not run.is_aside
    order by run.fair_key limit 1
  );
end $$;
