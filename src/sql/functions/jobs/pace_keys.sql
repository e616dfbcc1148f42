-- For jobs with a rate per key: counts the runs that a claim has taken of each key, and gives the first parked run of a key that has used up its rate
-- the time at which it may start. Only the first: the claim that takes it does the same for the next one. Runs that wait because their key is in use
-- are left to free_keys. Indexes: runs_pkey, key_rates_pkey, runs_concurrent_parked.
create or replace function holdfast_internal.pace_keys(lane integer, taken bigint[], parked bigint[], looked_at timestamptz) returns void
language plpgsql as $$
begin
  insert into holdfast_internal.key_rates as known (lane_id, key, paid_until)
  select lane, run.concurrency_key, looked_at + max(run.cost) * count(*)
  from (
    select started.concurrency_key, make_interval(secs => 1 / (job.settings ->> 'ratePerSecondPerKey')::double precision) as cost
    from (select * from holdfast_internal.runs where id = any (taken) offset 0) as started
    join holdfast_internal.jobs as job on job.id = started.job_id
    where started.concurrency_key is not null and job.settings ? 'ratePerSecondPerKey'
  ) as run group by run.concurrency_key
  on conflict (lane_id, key) do update set paid_until = greatest(known.paid_until, looked_at) + (excluded.paid_until - looked_at);
  update holdfast_internal.runs as run set due_at = next.starts_at
  from (
    select first.id, holdfast_internal.key_starts_at(lane, touched.concurrency_key, first.rate) as starts_at
    from (
      select distinct each.concurrency_key from (select * from holdfast_internal.runs where id = any (taken || parked) offset 0) as each
      where each.concurrency_key is not null
    ) as touched
    cross join lateral (
      select waiting.id, (job.settings ->> 'ratePerSecondPerKey')::double precision as rate
      from holdfast_internal.runs as waiting join holdfast_internal.jobs as job on job.id = waiting.job_id
      where (waiting.concurrency_key, waiting.lane_id, waiting.id) > (touched.concurrency_key, lane, 0)
        and (waiting.concurrency_key, waiting.lane_id, waiting.id) < (touched.concurrency_key, lane + 1, 0)
        and waiting.concurrency_key is not null and waiting.claim_id is null and waiting.due_at = 'infinity' and not waiting.is_aside
      order by waiting.concurrency_key, waiting.lane_id, waiting.id limit 1
    ) as first
    where first.rate is not null
  ) as next
  where run.id = next.id and next.starts_at > looked_at;
end $$;
