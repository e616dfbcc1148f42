-- Active jobs with runs that could start now if a live worker had a handler for them: how many runs (at most 5,000 of each kind are read per queue),
-- and since when the oldest waits. Indexes: runs_aside, runs_fresh, runs_due, runs_fair, run_bundles_pkey.
create or replace function holdfast_internal.unhandled_jobs() returns table (job text, queue text, lane_id integer, runs bigint, since timestamptz)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
declare
  max_rows constant integer := 5000;
begin
  return query
  with lonely as materialized (
    select job.id, job.name, lane.id as lane_id
    from (select known.id, known.name, known.queue_id || known.former_queue_ids as lanes from holdfast_internal.jobs as known
          where known.state = 'active' order by known.id limit 10000) as job
    cross join unnest(job.lanes) as lane (id)
    where not holdfast_internal.handles_job(lane.id, job.id)
  ), waiting as (
    select place.lane_id, found.job_id, sum(found.runs) as runs, min(found.first_id) as first_id
    from (select distinct lane_id from lonely) as place
    cross join lateral (
      select aside.job_id, count(*) as runs, min(aside.id) as first_id from (
        select run.job_id, run.id from holdfast_internal.runs as run
        where run.lane_id = place.lane_id and run.is_aside and run.due_at = 'infinity' and run.claim_id is null limit max_rows
      ) as aside group by 1
      union all
      select fresh.job_id, count(*), min(fresh.id) from generate_series(0, 3) as level cross join lateral (
        select run.job_id, run.id from holdfast_internal.runs as run
        where run.lane_id = place.lane_id and run.due_at is null
          and (run.priority, run.id) > (level, holdfast_internal.passed_by_claims(place.lane_id, level)) and (run.priority, run.id) < (level + 1, 0)
        order by run.priority, run.id limit max_rows
      ) as fresh group by 1
      union all
      select due.job_id, count(*), min(due.id) from generate_series(0, 3) as level cross join lateral (
        select run.job_id, run.id from holdfast_internal.runs as run
        where run.lane_id = place.lane_id and run.priority = level and run.due_at is not null and run.target is null and run.crashes = 0
          and run.due_at <= now() and run.claim_id is null
        order by run.due_at limit max_rows
      ) as due group by 1
      union all
      select fair.job_id, count(*), min(fair.id) from (
        select run.job_id, run.id from holdfast_internal.runs as run
        where run.lane_id = place.lane_id and run.fair_key is not null and run.due_at = 'infinity' and run.claim_id is null and not run.is_aside
        order by run.fair_key, run.priority desc, run.id limit max_rows
      ) as fair group by 1
      union all
      select bundle.job_id, sum(bundle.last_id - bundle.first_id + 1)::bigint, min(bundle.first_id) from (
        select * from holdfast_internal.waiting_bundles as known where known.lane_id = place.lane_id limit max_rows
      ) as bundle group by 1
    ) as found
    group by 1, 2
  )
  select lonely.name, queue.name, lonely.lane_id, waiting.runs::bigint, holdfast_internal.time_of_id(waiting.first_id)
  from lonely join waiting on waiting.lane_id = lonely.lane_id and waiting.job_id = lonely.id
  join holdfast_internal.queues as queue on queue.id = lonely.lane_id and queue.state = 'active'
  order by lonely.name;
end $$;
