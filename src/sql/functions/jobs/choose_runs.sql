-- Chooses the runs that a claim takes, fresh, due or set aside: the highest priority first; within it fair keys take turns (`round`; all runs without
-- one count as one key); then the longest wait. `ranked`: the chosen runs in that order. The cursor of a priority stops before the first fresh run
-- that isn't chosen; runs that can't be taken are set aside or parked as the cursor passes them. `aside`, `parked`: these (`fresh_verdicts`; null: take)
-- and the due ones.
create or replace function holdfast_internal.choose_runs(
  room integer, former_cursors bigint[], fresh_ids bigint[], fresh_priorities smallint[], fresh_verdicts text[], due_ids bigint[], due_verdicts text[],
  due_priorities smallint[], due_ages bigint[], due_turns text[], out taken integer, out ranked bigint[], out due_taken bigint[], out fresh_taken bigint[],
  out cursors bigint[], out aside bigint[], out parked bigint[]
)
language plpgsql as $$
declare
  only_fresh record;
begin
  cursors := former_cursors;
  if due_ids is null and fresh_priorities[1] is not distinct from fresh_priorities[cardinality(fresh_ids)] then
    -- Only fresh runs of one priority: they are in order already.
    select * into only_fresh from holdfast_internal.choose_fresh_runs(room, fresh_ids, fresh_verdicts);
    fresh_taken := only_fresh.taken;
    aside := only_fresh.aside;
    parked := only_fresh.parked;
    if only_fresh.cut is not null then
      cursors[fresh_priorities[1] + 1] := only_fresh.cut;
    end if;
    ranked := fresh_taken;
    taken := coalesce(cardinality(fresh_taken), 0);
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
        from unnest(fresh_ids, fresh_priorities, fresh_verdicts) as fresh (id, priority, verdict) where coalesce(fresh.verdict, 'take') = 'take'
      ) as each
    ) as candidate
  ) as chosen where chosen.rank <= room;
  taken := coalesce(cardinality(ranked), 0);
  with fetched as (
    select fresh.*, fresh.id in (select each from unnest(fresh_taken) as each) as is_taken
    from unnest(fresh_ids, fresh_priorities, fresh_verdicts) as fresh (id, priority, verdict)
  ), cuts as (
    select fetched.priority,
           coalesce(min(fetched.id) filter (where not fetched.is_taken and coalesce(fetched.verdict in ('take', 'leave'), true)) - 1, max(fetched.id)) as cut
    from fetched group by fetched.priority
  )
  select (select array_agg(greatest(former_cursors[level + 1], coalesce(cuts.cut, 0)) order by level)
          from generate_series(0, 3) as level left join cuts on cuts.priority = level),
         (select array_agg(fetched.id) from fetched join cuts using (priority) where fetched.verdict = 'aside' and fetched.id <= cuts.cut),
         (select array_agg(fetched.id) from fetched join cuts using (priority) where fetched.verdict = 'park' and fetched.id <= cuts.cut)
  into cursors, aside, parked;
  aside := nullif(aside || array(select due.id from unnest(due_ids, due_verdicts) as due (id, verdict) where due.verdict = 'aside'), '{}');
  parked := nullif(parked || array(select due.id from unnest(due_ids, due_verdicts) as due (id, verdict) where due.verdict = 'park'), '{}');
end $$;
