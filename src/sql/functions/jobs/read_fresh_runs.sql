-- The fresh runs that a claim has taken, as texts, with their jobs and when they expire (null when none does), in milliseconds.
create or replace function holdfast_internal.read_fresh_runs(
  fresh_taken bigint[], fresh_ids bigint[], fresh_jobs integer[], fresh_expiries timestamptz[], out ids text, out jobs text, out expiries text
)
language plpgsql as $$
begin
  if cardinality(fresh_taken) < cardinality(fresh_ids) then
    select array_agg(run.job order by run.place), array_agg(run.expiry order by run.place) into fresh_jobs, fresh_expiries
    from unnest(fresh_ids, fresh_jobs, fresh_expiries) with ordinality as run (id, job, expiry, place) where run.id = any (fresh_taken);
  end if;
  ids := array_to_string(fresh_taken, ',');
  jobs := array_to_string(fresh_jobs, ',');
  if array_remove(fresh_expiries, null) <> '{}' then
    expiries := (
      select string_agg(coalesce(round(extract(epoch from each.at) * 1000)::text, ''), ',' order by each.place)
      from unnest(fresh_expiries) with ordinality as each (at, place)
    );
  end if;
end $$;
