-- Runs that failed for good become dead letters with their whole history; a failed redrive reopens its letter. The caller has checked that these runs
-- may end. `is_counted`: whether they count as failures of their job, for auto-disable.
create or replace function holdfast_internal.bury_runs(records jsonb, chosen bigint[], me integer, is_counted boolean default true) returns integer
language plpgsql as $$
declare
  failed record;
  buried integer := 0;
  ids bigint[];
  records_of jsonb[];
begin
  select array_agg((record ->> 'id')::bigint order by (record ->> 'id')::bigint), array_agg(record order by (record ->> 'id')::bigint) into ids, records_of
  from jsonb_array_elements(records) as record where record ->> 'action' = 'dead' and (record ->> 'id')::bigint = any (chosen);
  if ids is null then
    return 0;
  end if;
  for failed in
    select run.job_id, count(*)::integer as failures from holdfast_internal.runs as run where is_counted and run.id = any (ids) group by 1 order by 1
  loop
    perform holdfast_internal.record_job_failures(failed.job_id, failed.failures, 'worker:' || me);
  end loop;
  perform holdfast_internal.prepare_ids();
  -- Looked up in arrays and not joined: see remove_delivered.
  with gone as materialized (
    select * from holdfast_internal.end_runs(ids)
  ), dead as materialized (
    select gone.id, coalesce(gone.message_id, gone.id) as message_id, gone.lane_id, gone.criticality, gone.priority, gone.ordering_key,
           gone.concurrency_key, gone.target, gone.ttl_ms, gone.dead_letter_id, r.attempt, r.reason, r.outcome, r."errorCode" as error_code, r.error,
           (
             select coalesce(jsonb_agg(jsonb_build_object(
               'deliveryId', past.delivery_id, 'attempt', past.attempt, 'at', past.started_at, 'durationMs', past.duration_ms, 'outcome', past.outcome,
               'status', null, 'isProbe', false, 'errorCode', past.error_code, 'error', past.error
             ) order by past.attempt), '[]') from (
               select * from holdfast_internal.attempts as one where one.delivery_id = gone.id order by one.attempt offset 0
             ) as past
           ) as attempts
    from gone cross join lateral holdfast_internal.run_records(jsonb_build_array(records_of[width_bucket(gone.id, ids)])) as r
  ), reopened as (
    update holdfast_internal.dead_letters as letter set
      state = 'open', settled_at = null, settled_by = null, action = null, reason = dead.reason, outcome = dead.outcome, error_code = dead.error_code,
      error = dead.error, attempt = letter.attempt + dead.attempt, attempts = letter.attempts || dead.attempts
    from dead
    where letter.id = any (array(select dead_letter_id from dead)) and letter.id = dead.dead_letter_id and letter.state = 'redriven' and letter.settled_at is null
    returning letter.id
  )
  insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, error_code, error, criticality, priority, attempt,
                                     attempts, ordering_key, concurrency_key, target, ttl_ms)
  select nextval('holdfast_internal.ids'), dead.id, dead.message_id, dead.lane_id, dead.reason, dead.outcome, dead.error_code, dead.error,
         dead.criticality, dead.priority, dead.attempt, dead.attempts, dead.ordering_key, dead.concurrency_key, dead.target, dead.ttl_ms
  from dead
  where dead.dead_letter_id is null
  on conflict (delivery_id) do nothing;
  get diagnostics buried = row_count;
  return buried;
end $$;
