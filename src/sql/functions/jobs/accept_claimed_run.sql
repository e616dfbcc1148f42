-- Stores one plain run that an idle worker of the enqueuing process has already claimed: the worker starts it when it learns of the commit, without a
-- notification and a second transaction. A run that has to wait for anything, or that this worker may not claim, is stored like any other; `claim` is
-- null then. A claimed run needs no row in runs and neither the cursor nor the lock of its queue: the claim holds it like a run of a bundle.
-- `request`: see return_claim.
create or replace function holdfast_internal.accept_claimed_run(
  job_name text, body text, me integer, request bigint, out run bigint, out claim bigint, out job integer, out lane integer
)
language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_variable
begin
  -- A transaction that takes this worker's runs away holds the lock exclusively: it waits for this one, but not the other way round. The rows must be
  -- read after locking, by another statement.
  perform holdfast_internal.commit_durably();
  if pg_try_advisory_xact_lock_shared(hashtext('holdfast.incarnation'), me) then
    with facts as materialized (
      select known.id as job_id, known.queue_id,
             case when life.last_value <> holdfast_internal.current_life() or holdfast_internal.id_at(clock_timestamp()) - ids.last_value > 4096 * 5000
               then holdfast_internal.advance_ids() end as is_advanced
      from holdfast_internal.workers as worker
      join holdfast_internal.jobs as known on known.name = job_name and known.queue_id = any (worker.lanes)
      join holdfast_internal.queues as queue on queue.id = known.queue_id
      cross join holdfast_internal.ids cross join holdfast_internal.server_life as life
      where worker.incarnation = me and worker.state = 'active' and worker.min_request <= request
        and known.state = 'active' and not known.settings ?| '{priority,expiresAfterMs,concurrency,ratePerSecond,worker}'
        and queue.state = 'active' and queue.concurrency is null and queue.rate_per_second is null
        and octet_length(body) <= (select value::text::bigint from holdfast_internal.settings where name = 'max_payload_bytes')
        and (select value::text::bigint from holdfast_internal.settings where name = 'max_pending') not between 1 and holdfast_internal.owed_overall()
    ), drawn as materialized (
      select nextval('holdfast_internal.ids') as run_id, nextval('holdfast_internal.run_claims_seq') as claim_id, facts.* from facts
    ), stored as (
      insert into holdfast_internal.messages (id, size, is_run, type, body)
      select drawn.run_id, octet_length(body), true, job_name, body::json from drawn
    ), claimed as (
      insert into holdfast_internal.run_claims (id, lane_id, worker, request, run_ids, bundled)
      select drawn.claim_id, drawn.queue_id, me, request, '{}', int8multirange(int8range(drawn.run_id, drawn.run_id, '[]')) from drawn
    )
    select drawn.run_id, drawn.claim_id, drawn.job_id, drawn.queue_id into run, claim, job, lane from drawn;
  end if;
  if run is null then
    select accepted into run from holdfast_internal.accept_runs(job_name, array[body]) as accepted;
  end if;
end $$;
