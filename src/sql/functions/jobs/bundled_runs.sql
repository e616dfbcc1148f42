-- Runs without a row, in the form of rows: the newest first, with ids below `before` and from `lowest` on, of these queues and this job (null: of
-- all). generate_series is evaluated completely, however few rows are read: each call has its own limit.
create or replace function holdfast_internal.bundled_runs(lanes integer[], job integer, before bigint, max_rows integer, lowest bigint default 0)
returns setof holdfast_internal.runs
language sql stable as $$
  with waiting as (
    select each.id, bundle.lane_id, bundle.job_id, bundle.priority, null::bigint as claim_id, unpacked.keys[each.id - bundle.before_keys] as ordering_key
    from (
      select * from (
        -- The bundle that contains `before - 1`, and the complete ones below it.
        select * from holdfast_internal.bundle_of(before - 1)
        union all
        (
          select * from holdfast_internal.waiting_bundles
          where last_id < before - 1 and last_id >= lowest and (lanes is null or lane_id = any (lanes)) and (job is null or job_id = job)
          order by last_id desc limit max_rows
        )
      ) as below
      where (lanes is null or lane_id = any (lanes)) and (job is null or job_id = job)
      order by last_id desc limit max_rows
    ) as bundle
    -- The keys of a bundle are unpacked once, and of no more bundles than are read.
    cross join lateral (select bundle.ordering_keys || '{}' as keys offset 0) as unpacked
    cross join lateral (
      select id from generate_series(
        least(bundle.last_id, before - 1), greatest(bundle.first_id, lowest, least(bundle.last_id, before - 1) - max_rows + 1), -1
      ) as id limit max_rows
    ) as each
    limit max_rows
  ), held as (
    select each.id, claim.lane_id, claim.id as claim_id, null::text as ordering_key
    from holdfast_internal.run_claims as claim cross join unnest(claim.bundled * int8multirange(int8range(least(lowest, before), before))) as part
    -- A range may contain runs of several jobs.
    cross join lateral (
      select id from generate_series(
        upper(part) - 1, case when job is null then greatest(lower(part), upper(part) - max_rows) else lower(part) end, -1
      ) as id limit case when job is null then max_rows end
    ) as each
    where claim.bundled && int8range(least(lowest, before), before) and (lanes is null or claim.lane_id = any (lanes))
    order by each.id desc limit case when job is null then max_rows end
  )
  select id, null::xid8, lane_id, job_id, 0, 0::smallint, priority, 1::smallint, null::bigint, claim_id, null::timestamptz, null::timestamptz,
         null::timestamptz, null::double precision, null::bigint, ordering_key, null::text, null::text, false, null::text
  from (
    select id, lane_id, job_id, priority, claim_id, ordering_key from waiting
    union all
    (
      -- The jobs of these runs are looked up, newest run first, until there are enough; a worker holds a few thousand runs at most.
      select held.id, held.lane_id, its.job_id, its.priority, held.claim_id, held.ordering_key
      from held cross join lateral holdfast_internal.job_of_bundled(held.id, held.lane_id) as its where job is null or its.job_id = job limit max_rows
    )
  ) as bundled
  order by id desc limit max_rows
$$;
