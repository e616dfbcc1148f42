-- Runs as shown to users, pending or ended; ids that aren't runs are left out. A success takes precedence; a run that is neither pending nor ended
-- otherwise has failed. Crashes of an ended run are its interrupted attempts; its priority is stored only with its dead letter. Indexes: runs_pkey,
-- run_claims_lane, attempts_pkey of one partition each, dead_letters_delivery_id_key, messages_pkey.
create or replace function holdfast_internal.describe_runs(run_ids bigint[])
returns table (
  id bigint, message_id bigint, job text, queue text, state text, attempt integer, crashes smallint, priority smallint, due_at timestamptz,
  expires_at timestamptz, worker text, target text, created_at timestamptz, ended_at timestamptz, error text, error_code text, lane_id integer
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
begin
  return query
  select asked.id, known.message_id, coalesce(job.name, message.type), queue.name, known.state, known.attempt, known.crashes, known.priority,
         known.due_at, known.expires_at, holdfast_internal.worker_name(known.worker), known.target, holdfast_internal.time_of_id(asked.id), known.ended_at, known.error,
         known.error_code, known.lane_id
  from unnest(run_ids) as asked (id)
  cross join lateral (
    select coalesce(run.message_id, run.id) as message_id, run.job_id, run.lane_id,
           case when holder.worker is not null then 'running' when run.due_at > now() and run.due_at < 'infinity' then 'scheduled'
                else 'waiting' end as state,
           -- For a running one, the current attempt.
           run.attempt + case when holder.worker is null then 0 else 1 end as attempt, run.crashes, run.priority, case when run.due_at < 'infinity' then run.due_at end as due_at, run.expires_at,
           holder.worker, run.target, null::timestamptz as ended_at, null::text as error, null::text as error_code
    from holdfast_internal.runs as run
    cross join lateral (
      select (
        select claim.worker from holdfast_internal.run_claims as claim
        where claim.lane_id = run.lane_id and run.id = any (claim.run_ids) and (run.due_at is null or run.claim_id = claim.id)
        order by claim.id desc limit 1
      ) as worker
    ) as holder
    where run.id = asked.id
    union all
    -- Ended, by its best attempt and its letter.
    select tried.message_id, null, tried.lane_id,
           case when tried.outcome = 1 then 'succeeded' when tried.outcome = 10 then 'expired' when tried.outcome = 11 then 'cancelled'
                when coalesce(letter.reason, tried.error_code) = 'timed_out' then 'timed_out' else 'failed' end,
           -- A run that was ended without an attempt has no duration and no worker.
           tried.attempt - case when tried.outcome >= 10 and tried.duration_ms is null then 1 else 0 end, tried.crashes::smallint,
           letter.priority, null, null, case when tried.duration_ms is not null or tried.outcome = 6 then tried.incarnation end, null,
           coalesce(letter.created_at, tried.started_at + make_interval(secs => coalesce(tried.duration_ms, 0) / 1000.0)),
           coalesce(letter.error, tried.error), coalesce(letter.error_code, tried.error_code)
    from (
      -- The row that counted the crashes is deleted.
      select one.*, count(*) filter (where one.outcome = 6) over () as crashes from (select * from holdfast_internal.attempts as made where made.delivery_id = asked.id order by made.attempt offset 0) as one
      order by (one.outcome = 1) desc, one.attempt desc, one.outcome = 6, one.incarnation desc limit 1
    ) as tried
    left join holdfast_internal.dead_letters as letter on letter.delivery_id = asked.id
    union all
    -- Became a dead letter before its first attempt.
    select letter.message_id, null, letter.lane_id, case when letter.reason = 'timed_out' then 'timed_out' else 'failed' end, letter.attempt, 0::smallint,
           letter.priority, null, null, null, null, letter.created_at, letter.error, letter.error_code
    from holdfast_internal.dead_letters as letter where letter.delivery_id = asked.id
    union all
    -- Without a row of its own: waiting, or held by a claim.
    select bundled.id, bundled.job_id, bundled.lane_id, case when holder.worker is null then 'waiting' else 'running' end,
           case when holder.worker is null then 0 else 1 end, 0::smallint,
           bundled.priority, null, null, holder.worker, null, null, null, null
    from holdfast_internal.bundled_runs(null, null, asked.id + 1, 1, asked.id) as bundled
    cross join lateral (select (select claim.worker from holdfast_internal.run_claims as claim where claim.id = bundled.claim_id) as worker) as holder
    where bundled.id = asked.id
    limit 1
  ) as known
  -- A delivery of an endpoint is not a run.
  cross join lateral (select one.name from holdfast_internal.queues as one where one.id = known.lane_id limit 1) as queue
  left join lateral (select one.name from holdfast_internal.jobs as one where one.id = known.job_id limit 1) as job on true
  left join lateral (
    select stored.type from holdfast_internal.messages as stored where stored.id = known.message_id
    union all select kept.type from holdfast_internal.messages_kept as kept where kept.id = known.message_id limit 1
  ) as message on known.job_id is null;
end $$;
