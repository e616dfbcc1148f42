-- Gives runs that these claims hold without a row (`chosen`, or all of them) a row each, as if claimed by id: from then on they are like any other.
create or replace function holdfast_internal.take_out_of_claims(claims bigint[], chosen int8multirange default null) returns void
language plpgsql as $$
declare
  held record;
  taken int8multirange;
begin
  for held in
    select id, lane_id, bundled from holdfast_internal.run_claims where id = any (claims) and bundled <> '{}' order by id for update
  loop
    taken := held.bundled * coalesce(chosen, held.bundled);
    continue when isempty(taken);
    insert into holdfast_internal.runs (id, lane_id, job_id, priority, claim_id, due_at)
    select run, held.lane_id, job.job_id, job.priority, held.id, clock_timestamp()
    from unnest(taken) as part cross join generate_series(lower(part), upper(part) - 1) as run
    cross join lateral holdfast_internal.job_of_bundled(run, held.lane_id) as job;
    update holdfast_internal.run_claims set
      bundled = bundled - taken,
      run_ids = run_ids || array(select generate_series(lower(part), upper(part) - 1) from unnest(taken) as part)
    where id = held.id;
  end loop;
end $$;
