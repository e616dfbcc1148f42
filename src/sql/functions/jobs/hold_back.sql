-- Applies the limits of jobs to the runs that a claim could take: of each job with limits (`limited`) as many runs are taken as these allow
-- (`rooms`), in the order in which they would start. The others are set aside if they are due runs, which would delay the runs behind them, or left
-- where they are. `short`: jobs of which more runs wait.
create or replace function holdfast_internal.hold_back(
  limited integer[], rooms integer[], ids bigint[], jobs integer[], priorities smallint[], times timestamptz[], ages bigint[], turns text[],
  inout verdicts text[], out short integer[]
)
language plpgsql as $$
begin
  if limited = '{}' or ids is null then
    return;
  end if;
  select array_agg(
           case when not ranked.is_held then ranked.verdict when ranked.due_at is not null then 'aside' else 'leave' end order by ranked.place
         ),
         array_agg(distinct ranked.job) filter (where ranked.is_held)
  into verdicts, short
  from (
    select turned.*, turned.verdict = 'take' and coalesce(row_number() over (
             partition by turned.job, turned.verdict order by turned.priority desc, turned.round, turned.age, turned.id
           ) > rooms[array_position(limited, turned.job)], false) as is_held
    from (
      select each.*, row_number() over (partition by each.priority, each.turn order by each.age, each.id) as round
      from unnest(ids, jobs, priorities, times, ages, turns, verdicts) with ordinality as each (id, job, priority, due_at, age, turn, verdict, place)
    ) as turned
  ) as ranked;
end $$;
