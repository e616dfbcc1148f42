-- Runs that are to be retried, or were released, return to their queues, due at the time in the record. Index: runs_pkey.
create or replace function holdfast_internal.retry_runs(records jsonb, held bigint[]) returns void
language plpgsql as $$
declare
  -- All three in the order of ids.
  ids bigint[];
  attempts_of integer[];
  delays_ms double precision[];
begin
  select array_agg(r.id order by r.id), array_agg(case r.action when 'retry' then r.attempt end order by r.id),
         array_agg(coalesce(r."delayMs", 0) order by r.id)
  into ids, attempts_of, delays_ms from holdfast_internal.run_records(records) as r where r.action in ('retry', 'release') and r.id = any (held);
  if ids is null then
    return;
  end if;
  -- Looked up in arrays and not joined: see remove_delivered.
  update holdfast_internal.runs as run set
    attempt = coalesce(attempts_of[width_bucket(run.id, ids)], run.attempt), claim_id = null,
    due_at = clock_timestamp() + make_interval(secs => delays_ms[width_bucket(run.id, ids)] / 1000)
  where run.id = any (ids);
  perform holdfast_internal.cancel_returned(ids);
  perform holdfast_internal.free_slots_of(ids);
  perform holdfast_internal.ring_workers(lane)
  from (select distinct r.lane from holdfast_internal.run_records(records) as r where r.id = any (ids)) as returned;
end $$;
