-- Chooses the runs that a claim takes, fresh, due or set aside: the highest priority first; within it fair keys take turns (`round`; all runs without
-- one count as one key); then the longest wait. `ranked`: the chosen runs in that order. The cursor of a priority stops before the first fresh run
-- that isn't chosen; runs that can't be taken are set aside as the cursor passes them (`aside`). `parked`: due runs whose key is in use.
create or replace function holdfast_internal.choose_runs(
  room integer, former_cursors bigint[], fresh_ids bigint[], fresh_priorities smallint[], are_takeable boolean[], due_ids bigint[], due_verdicts text[],
  due_priorities smallint[], due_ages bigint[], due_turns text[], out taken integer, out ranked bigint[], out due_taken bigint[], out fresh_taken bigint[],
  out cursors bigint[], out aside bigint[], out parked bigint[]
)
language plpgsql as $$
begin
  cursors := former_cursors;
  if due_ids is null and are_takeable is null and coalesce(cardinality(fresh_ids), 0) <= room
    and fresh_priorities[1] is not distinct from fresh_priorities[cardinality(fresh_ids)] then
    -- Only fresh runs of one priority: the last one has the highest id.
    ranked := fresh_ids;
    fresh_taken := fresh_ids;
    if fresh_ids is not null then
      cursors[fresh_priorities[1] + 1] := fresh_ids[cardinality(fresh_ids)];
    end if;
    taken := coalesce(cardinality(fresh_ids), 0);
    return;
  end if;
  select array_agg(chosen.id order by chosen.rank), array_agg(chosen.id order by chosen.rank) filter (where not chosen.is_fresh),
         array_agg(chosen.id order by chosen.rank) filter (where chosen.is_fresh)
  into ranked, due_taken, fresh_taken
  from (
    select candidate.*, row_number() over (order by candidate.priority desc, candidate.round, candidate.age, candidate.id) as rank from (
      select each.*, row_number() over (partition by each.priority, each.turn order by each.age, each.id) as round from (
        select due.id, due.priority, due.age, due.turn, false as is_fresh
        from unnest(due_ids, due_priorities, due_verdicts, due_ages, due_turns) as due (id, priority, verdict, age, turn) where due.verdict = 'take'
        union all
        select fresh.id, fresh.priority, fresh.id, null, true
        from unnest(fresh_ids, fresh_priorities, are_takeable) as fresh (id, priority, is_takeable) where fresh.is_takeable is not false
      ) as each
    ) as candidate
  ) as chosen where chosen.rank <= room;
  taken := coalesce(cardinality(ranked), 0);
  with fetched as (
    select fresh.*, fresh.id in (select each from unnest(fresh_taken) as each) as is_taken
    from unnest(fresh_ids, fresh_priorities, are_takeable) as fresh (id, priority, is_takeable)
  ), cuts as (
    select fetched.priority, coalesce(min(fetched.id) filter (where not fetched.is_taken and fetched.is_takeable is not false) - 1, max(fetched.id)) as cut
    from fetched group by fetched.priority
  )
  select (select array_agg(greatest(former_cursors[level + 1], coalesce(cuts.cut, 0)) order by level)
          from generate_series(0, 3) as level left join cuts on cuts.priority = level),
         (select array_agg(fetched.id) from fetched join cuts using (priority) where fetched.is_takeable is false and fetched.id <= cuts.cut)
  into cursors, aside;
  aside := nullif(aside || array(select due.id from unnest(due_ids, due_verdicts) as due (id, verdict) where due.verdict = 'aside'), '{}');
  parked := nullif(array(select due.id from unnest(due_ids, due_verdicts) as due (id, verdict) where due.verdict = 'park'), '{}');
end $$;
