-- Runs of one priority, with row locks: the same number of each key; if some keys have fewer, the others share the rest equally. Of each key, at most
-- 1,000 runs of jobs at their limits (`exhausted`) are skipped. Indexes: runs_fair, runs_pkey.
create or replace function holdfast_internal.fair_shares(lane integer, keys text[], level integer, max_rows integer, exhausted integer[]) returns bigint[]
language plpgsql as $$
declare
  max_passed constant integer := 1000;
  left_keys text[] := keys;
  share integer;
  taken bigint[] := '{}';
  found_ids bigint[];
  found_keys text[];
begin
  while cardinality(taken) < max_rows and left_keys <> '{}' loop
    share := greatest(1, (max_rows - cardinality(taken)) / cardinality(left_keys));
    select array_agg(next.id), array_agg(next.key) into found_ids, found_keys from (
      select candidate.id, turn.key from unnest(left_keys) with ordinality as turn (key, place) cross join lateral (
        select locked.id from (
          select run.id, run.job_id from holdfast_internal.runs as run
          where run.lane_id = lane and run.fair_key = turn.key and run.priority = level and run.due_at = 'infinity' and run.claim_id is null
            and not run.is_aside and run.id <> all (taken)
          order by run.id limit share + case when exhausted = '{}' then 0 else max_passed end
        ) as waiting cross join lateral (
          select run.id from holdfast_internal.runs as run where run.id = waiting.id for update skip locked
        ) as locked
        where waiting.job_id <> all (exhausted) order by waiting.id limit share
      ) as candidate
      order by turn.place limit max_rows - cardinality(taken)
    ) as next;
    exit when found_ids is null;
    taken := taken || found_ids;
    -- Keys that filled their share may have more runs.
    left_keys := array(
      select turn.key from unnest(left_keys) with ordinality as turn (key, place)
      where share <= (select count(*) from unnest(found_keys) as each (key) where each.key = turn.key) order by turn.place
    );
  end loop;
  return taken;
end $$;
