-- Due runs of fair keys join the lines of their keys, the longest due first, a bounded number in one claim. In the due line, those of one key could hide
-- those of another from a claim. Index: runs_fair_due.
create or replace function holdfast_internal.join_fair_lines(lane integer, looked_at timestamptz) returns void
language plpgsql as $$
declare
  max_rows constant integer := 2000;
begin
  update holdfast_internal.runs set due_at = 'infinity' where id = any (array(
    select run.id from holdfast_internal.runs as run
    where run.lane_id = lane and run.fair_key is not null and run.due_at < 'infinity' and run.due_at <= looked_at and run.claim_id is null
      and run.target is null and run.crashes = 0
    order by run.due_at limit max_rows for update skip locked
  ));
end $$;
