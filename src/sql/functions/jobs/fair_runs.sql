-- Waiting runs of fair keys, with row locks: the highest priority first; within a priority the keys take turns, starting after `fair_after`, with
-- equal shares. Runs of jobs at their limits (`exhausted`) are skipped. Keys are found by a skip scan of runs_fair.
create or replace function holdfast_internal.fair_runs(lane integer, fair_after text, max_rows integer, exhausted integer[]) returns setof holdfast_internal.runs
language plpgsql as $$
declare
  keys constant text[] := holdfast_internal.fair_turns(lane, fair_after, max_rows);
  taken bigint[] := '{}';
  level integer;
begin
  if keys = '{}' then
    return;
  end if;
  for level in
    select distinct head.priority from unnest(keys) as turn (key) cross join lateral generate_series(0, 3) as every (priority) cross join lateral (
      select run.priority from holdfast_internal.runs as run
      where run.lane_id = lane and run.fair_key = turn.key and run.priority = every.priority and run.due_at = 'infinity' and run.claim_id is null
        and not run.is_aside
      limit 1
    ) as head order by 1 desc
  loop
    exit when cardinality(taken) >= max_rows;
    taken := taken || holdfast_internal.fair_shares(lane, keys, level, max_rows - cardinality(taken), exhausted);
  end loop;
  return query select * from holdfast_internal.runs as run where run.id = any (taken);
end $$;
