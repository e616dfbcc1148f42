-- The fair keys that have waiting runs, in the order of their turns: those after `fair_after`, then those up to it. Index: runs_fair.
create or replace function holdfast_internal.fair_turns(lane integer, fair_after text, max_keys integer) returns text[]
language plpgsql as $$
begin
  return array(
    with recursive turns (key, place, is_second) as (
      select holdfast_internal.next_fair_key(lane, fair_after), 1, false
      union all
      select next.key, turns.place + 1, turns.is_second or turns.key is null
      from turns cross join lateral (select holdfast_internal.next_fair_key(lane, turns.key) as key) as next
      -- Then again from the first key, up to `fair_after`.
      where turns.place <= max_keys and (turns.key is not null or not turns.is_second) and not (turns.is_second and turns.key > fair_after)
    )
    select turns.key from turns
    where turns.key is not null and (not turns.is_second or (fair_after is not null and turns.key <= fair_after)) order by turns.place limit max_keys
  );
end $$;
