-- The last fair key, in the order of turns, of which runs were taken; the turns started after `fair_after`. Null: no run of a fair key was taken.
create or replace function holdfast_internal.last_turn(fair_after text, due_ids bigint[], due_turns text[], due_taken bigint[]) returns text
language plpgsql as $$
begin
  if due_turns is null or due_taken is null then
    return null;
  end if;
  return (
    select due.turn from unnest(due_ids, due_turns) as due (id, turn) where due.turn is not null and due.id = any (due_taken)
    order by due.turn <= fair_after desc nulls last, due.turn desc limit 1
  );
end $$;
