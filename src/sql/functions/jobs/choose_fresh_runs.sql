-- choose_runs, if there are only fresh runs of one priority, in the order of their ids. `cut`: where the cursor stops.
create or replace function holdfast_internal.choose_fresh_runs(
  room integer, fresh_ids bigint[], verdicts text[], out taken bigint[], out cut bigint, out aside bigint[], out parked bigint[]
)
language plpgsql as $$
declare
  first_left bigint;
begin
  if fresh_ids is null then
    return;
  end if;
  if verdicts is null then
    taken := fresh_ids[:room];
    cut := taken[cardinality(taken)];
    return;
  end if;
  taken := array(
    select fresh.id from unnest(fresh_ids, verdicts) with ordinality as fresh (id, verdict, place) where fresh.verdict = 'take' order by fresh.place limit room
  );
  first_left := (
    select min(fresh.id) from unnest(fresh_ids, verdicts) as fresh (id, verdict)
    where fresh.verdict = 'leave' or (fresh.verdict = 'take' and fresh.id > coalesce(taken[cardinality(taken)], 0))
  );
  cut := coalesce(first_left - 1, fresh_ids[cardinality(fresh_ids)]);
  select array_agg(fresh.id) filter (where fresh.verdict = 'aside'), array_agg(fresh.id) filter (where fresh.verdict = 'park') into aside, parked
  from unnest(fresh_ids, verdicts) as fresh (id, verdict) where fresh.id <= cut;
  taken := nullif(taken, '{}');
end $$;
