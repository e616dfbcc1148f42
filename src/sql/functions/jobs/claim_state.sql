-- What a claim needs to know about its worker and its queue; no row if the worker may not claim. `untakeable`: jobs of the queue that are not active,
-- or that the worker has no handler for; `limited`: the others with limits of their own; `has_paced`: whether a job has a rate per key; `has_ordered`: whether bundles with
-- ordering keys wait.
create or replace function holdfast_internal.claim_state(me integer, lane integer, request bigint, handled integer[])
returns table (
  worker_name text, worker_tags text[], queue_state text, concurrency integer, rate_per_second double precision, untakeable integer[],
  limited integer[], has_paced boolean, has_ordered boolean,
  new_horizon bigint, seq bigint, cursors bigint[], floors timestamptz[], horizon bigint, gap_xids xid8[], gap_ids bigint[], gap_floors timestamptz[],
  tokens double precision, tokens_at timestamptz, fair_after text, job_tokens jsonb
)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
  select worker.name, worker.tags, queue.state, queue.concurrency, queue.rate_per_second,
         array(
           select jobs.id from holdfast_internal.jobs
           where (queue_id = lane or lane = any (former_queue_ids)) and (jobs.state <> 'active' or jobs.id <> all (handled))
         ),
         array(
           select jobs.id from holdfast_internal.jobs
           where (queue_id = lane or lane = any (former_queue_ids)) and settings ?| '{concurrency,ratePerSecond}'
             and jobs.state = 'active' and (handled is null or jobs.id = any (handled))
         ),
         exists (select from holdfast_internal.jobs where (queue_id = lane or lane = any (former_queue_ids)) and settings ? 'ratePerSecondPerKey'),
         exists (select from holdfast_internal.run_bundles as bundle where bundle.lane_id = lane and bundle.ordering_keys is not null),
         -- Read before look_for_runs takes its snapshot: transactions that start later get higher ids.
         ids.last_value,
         known.seq, coalesce(known.cursors, '{0,0,0,0}'),
         coalesce(known.floors, array_fill('-infinity'::timestamptz, array[4])), coalesce(known.horizon, 0),
         coalesce(known.gap_xids, '{}'), coalesce(known.gap_ids, '{}'), coalesce(known.gap_floors, '{}'),
         known.tokens, known.tokens_at, known.fair_after, known.job_tokens
  from holdfast_internal.workers as worker cross join holdfast_internal.ids
  left join holdfast_internal.queues as queue on queue.id = lane
  left join lateral (
    select cursor.* from holdfast_internal.queue_cursors as cursor where cursor.lane_id = lane order by cursor.seq desc limit 1
  ) as known on true
  where worker.incarnation = me and worker.state = 'active' and worker.min_request <= claim_state.request;
end $$;
