-- How many more runs of each job in `limited` its limits allow, over all workers, and after how many milliseconds they allow more (`limits_ms`).
-- `tokens`: of a bucket that holds the tokens of one second, and at least one; null for a job without a rate. Indexes: jobs_pkey, run_claims_lane,
-- runs_pkey, messages_pkey.
create or replace function holdfast_internal.job_rooms(
  lane integer, limited integer[], former_tokens jsonb, looked_at timestamptz, out rooms integer[], out limits_ms double precision[],
  out tokens double precision[]
)
language plpgsql as $$
begin
  if limited = '{}' then
    return;
  end if;
  with claim as materialized (
    select known.* from (
      select distinct place from holdfast_internal.jobs as job cross join unnest(job.former_queue_ids || job.queue_id || lane) as place
      where job.id = any (limited)
    ) as queue cross join lateral (select * from holdfast_internal.run_claims where lane_id = queue.place offset 0) as known
  ), held as materialized (
    select counted.job_id, count(*) as total from (
      select run.job_id from claim cross join unnest(claim.run_ids) as listed (id) cross join lateral (
        select each.job_id from holdfast_internal.runs as each
        where each.id = listed.id and (each.due_at is null or each.claim_id = claim.id) limit 1
      ) as run where run.job_id = any (limited)
      union all
      -- Runs that were claimed without a row before the job had a limit.
      select job.id
      from (select id, name, updated_at from holdfast_internal.jobs where id = any (limited) offset 0) as job
      join claim on claim.bundled <> '{}' and claim.claimed_at <= job.updated_at + interval '1 minute'
      cross join unnest(claim.bundled) as part cross join generate_series(lower(part), upper(part) - 1) as listed (id) cross join lateral (
        select each.type from holdfast_internal.messages as each where each.id = listed.id limit 1
      ) as message where message.type = job.name
    ) as counted group by 1
  ), known as (
    select given.place, (job.settings ->> 'concurrency')::integer - coalesce(held.total, 0) as slots,
           (job.settings ->> 'ratePerSecond')::double precision as rate, (former_tokens -> given.id::text ->> 0)::double precision as left_then,
           extract(epoch from looked_at)::double precision - (former_tokens -> given.id::text ->> 1)::double precision as elapsed
    from unnest(limited) with ordinality as given (id, place) join holdfast_internal.jobs as job on job.id = given.id
    left join held on held.job_id = given.id
  ), counted as (
    select known.*, case when rate is not null then
             least(greatest(rate, 1), coalesce(left_then + greatest(elapsed, 0) * rate, greatest(rate, 1))) end as tokens
    from known
  )
  select array_agg(greatest(0, least(slots, floor(counted.tokens)))::integer order by place),
         -- Other workers are not notified when a run ends and its slot becomes free: they try again after 50 ms.
         array_agg(case when slots <= floor(counted.tokens) is not false and slots is not null then 50
                        else greatest(1, (1 + floor(counted.tokens) - counted.tokens) / rate * 1000) end order by place),
         array_agg(counted.tokens order by place)
  into rooms, limits_ms, tokens from counted;
end $$;
