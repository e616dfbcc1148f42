-- The floor of each priority. No due run waits below it, except runs that are committed late (the end of their transaction resets the floor) and runs
-- whose rows were locked just now (the floor stays two seconds behind).
create or replace function holdfast_internal.due_floors(
  wanted integer, due_ids bigint[], due_priorities smallint[], due_verdicts text[], due_times timestamptz[], due_taken bigint[], reset_floor timestamptz,
  looked_at timestamptz
) returns timestamptz[]
language plpgsql as $$
begin
  if due_ids is null then
    return array_fill(least(reset_floor, looked_at - interval '2 seconds'), array[4]);
  end if;
  return (
    select array_agg(least(
             coalesce(due.first_left, case when due.total >= wanted then due.last end, looked_at - interval '2 seconds'),
             reset_floor, looked_at - interval '2 seconds'
           ) order by level)
    from generate_series(0, 3) as level left join (
      select each.priority, count(*) as total, max(each.due_at) as last,
             min(each.due_at) filter (where each.verdict in ('take', 'leave') and each.id not in (select known from unnest(due_taken) as known)) as first_left
      from unnest(due_ids, due_priorities, due_verdicts, due_times) as each (id, priority, verdict, due_at)
      where each.due_at is not null group by each.priority
    ) as due on due.priority = level
  );
end $$;
