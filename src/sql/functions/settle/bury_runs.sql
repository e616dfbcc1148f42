-- Runs that can't succeed by themselves become dead letters with their whole history; a failed redrive reopens its letter. The caller has
-- made sure that they may. Counts for auto-disable.
create or replace function holdfast_internal.bury_runs(records jsonb, chosen bigint[], me integer) returns integer
language plpgsql as $$
declare
  failed record;
  buried integer := 0;
begin
  if not exists (select from holdfast_internal.run_records(records) as r where r.action = 'dead' and r.id = any (chosen)) then
    return 0;
  end if;
  for failed in
    select run.job_id, count(*)::integer as failures from holdfast_internal.run_records(records) as r join holdfast_internal.runs as run on run.id = r.id
    where r.action = 'dead' and r.id = any (chosen) group by 1 order by 1
  loop
    perform holdfast_internal.record_job_failures(failed.job_id, failed.failures, 'worker:' || me);
  end loop;
  perform holdfast_internal.prepare_ids();
  with dead as (
    delete from holdfast_internal.runs as run using holdfast_internal.run_records(records) as r
    where run.id = r.id and r.action = 'dead' and r.id = any (chosen)
    returning run.id, coalesce(run.message_id, run.id) as message_id, run.lane_id, run.criticality, run.priority, run.ordering_key,
              run.concurrency_key, run.target, run.ttl_ms, run.dead_letter_id, r.attempt, r.reason, r.outcome, r."errorCode" as error_code, r.error
  ), history as (
    select dead.id, coalesce(jsonb_agg(jsonb_build_object(
      'deliveryId', past.delivery_id, 'attempt', past.attempt, 'at', past.started_at, 'durationMs', past.duration_ms, 'outcome', past.outcome,
      'status', null, 'isProbe', false, 'errorCode', past.error_code, 'error', past.error
    ) order by past.attempt) filter (where past.attempt is not null), '[]') as attempts
    from dead left join holdfast_internal.attempts as past on past.delivery_id = dead.id
    group by dead.id
  ), reopened as (
    update holdfast_internal.dead_letters as letter set
      state = 'open', settled_at = null, settled_by = null, action = null, reason = dead.reason, outcome = dead.outcome, error_code = dead.error_code,
      error = dead.error, attempt = letter.attempt + dead.attempt, attempts = letter.attempts || history.attempts
    from dead join history using (id)
    where letter.id = dead.dead_letter_id and letter.state = 'redriven' and letter.settled_at is null
    returning letter.id
  )
  insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, error_code, error, criticality, priority, attempt,
                                     attempts, ordering_key, concurrency_key, target, ttl_ms)
  select nextval('holdfast_internal.ids'), dead.id, dead.message_id, dead.lane_id, dead.reason, dead.outcome, dead.error_code, dead.error,
         dead.criticality, dead.priority, dead.attempt, history.attempts, dead.ordering_key, dead.concurrency_key, dead.target, dead.ttl_ms
  from dead join history using (id)
  where dead.dead_letter_id is null
  on conflict (delivery_id) do nothing;
  get diagnostics buried = row_count;
  return buried;
end $$;
