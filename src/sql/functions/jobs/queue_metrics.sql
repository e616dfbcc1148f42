-- Gauges of queues, of at most a hundred. Rows are counted up to 1,000; a higher number is the last result of count_queues.
create or replace function holdfast_internal.queue_metrics() returns table (metric text, labels jsonb, value double precision)
language sql stable as $$
  with owed as materialized (
    select part.lane_id, sum(part.runs) as runs from (
      select queue.id as lane_id, holdfast_internal.owed_rows(queue.id, 1000) as runs
      from (select id from holdfast_internal.queues order by name limit 100) as queue
      union all
      select lane_id, sum(last_id - first_id + 1) from holdfast_internal.waiting_bundles group by lane_id
      union all
      select claim.lane_id, sum(upper(part) - lower(part)) from holdfast_internal.run_claims as claim cross join unnest(claim.bundled) as part
      group by claim.lane_id
    ) as part group by part.lane_id
  )
  select gauge.metric, jsonb_build_object('queue', queue.name), gauge.value
  from (select id, name from holdfast_internal.queues order by name limit 100) as queue
  left join owed on owed.lane_id = queue.id
  cross join lateral (values
    ('queue_runs', coalesce(owed.runs, 0)::double precision),
    ('queue_oldest_due_seconds', coalesce(
      greatest(0, extract(epoch from clock_timestamp() - holdfast_internal.oldest_waiting_run(queue.id))), 0)::double precision),
    ('queue_dead_letters', holdfast_internal.open_letters_of(queue.id)::double precision)
  ) as gauge (metric, value)
  union all
  select 'queue_unhandled_runs', jsonb_build_object('queue', lonely.queue, 'job', lonely.job), lonely.runs::double precision
  from (select * from holdfast_internal.unhandled_jobs() limit 100) as lonely
$$;
