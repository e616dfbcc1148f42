-- The fresh runs that a claim has taken, as texts, with their jobs, when they expire in milliseconds, and their ordering keys as JSON (each null when
-- none has one). They are in the order of `fresh_ids`.
create or replace function holdfast_internal.read_fresh_runs(
  fresh_taken bigint[], fresh_ids bigint[], fresh_jobs integer[], fresh_expiries timestamptz[], fresh_keys text[], out ids text, out jobs text, out expiries text,
  out keys text
)
language plpgsql as $$
begin
  if cardinality(fresh_taken) < cardinality(fresh_ids) then
    select array_agg(run.job order by run.place), array_agg(run.expiry order by run.place),
           case when fresh_keys is not null then array_agg(run.key order by run.place) end
    into fresh_jobs, fresh_expiries, fresh_keys
    from (
      -- Not as a condition of this subquery: it could become a join that searches the list for each run.
      select *, listed.id in (select each from unnest(fresh_taken) as each) as is_taken
      from unnest(fresh_ids, fresh_jobs, fresh_expiries, fresh_keys) with ordinality as listed (id, job, expiry, key, place) offset 0
    ) as run where run.is_taken;
  end if;
  ids := array_to_string(fresh_taken, ',');
  jobs := array_to_string(fresh_jobs, ',');
  keys := to_json(fresh_keys)::text;
  if array_remove(fresh_expiries, null) <> '{}' then
    expiries := (
      select string_agg(coalesce(round(extract(epoch from each.at) * 1000)::text, ''), ',' order by each.place)
      from unnest(fresh_expiries) with ordinality as each (at, place)
    );
  end if;
end $$;
