-- Ends dispatches that have not started, each with all of its runs: compare-and-swap against the token (a claim and a run of it), so that a run that has just started is never touched. `reasons`:
-- `expired`, `delivery_limit`, `rejected` or another word of the broker; `unpublished`, `worker_lost` and `queue_lost` return the runs. `histories`: the x-death of each, or empty.
-- `outcome` of a token: failed, returned (to the queue), or ended: nothing was to be done. Indexes: runs_pkey, run_claims_pkey, dead_letters_pkey, dead_letters_delivery_id_key.
create or replace function holdfast_internal.end_dispatches(dispatched_ids bigint[], tokens bigint[], reasons text[], histories jsonb[], me integer)
returns table (run_id bigint, outcome text)
language plpgsql as $$
#variable_conflict use_column
declare
  open record;
  claims bigint[];
  open_runs bigint[];
  held bigint[] := '{}';
  held_reasons text[] := '{}';
  held_histories jsonb[] := '{}';
  held_letters bigint[] := '{}';
  to_return bigint[] := '{}';
  to_share bigint[] := '{}';
  failed_tokens bigint[] := '{}';
  returned_tokens bigint[] := '{}';
  key_lanes integer[] := '{}';
  reason text;
begin
  perform holdfast_internal.commit_durably();
  -- Claims are locked before rows, as in settling. If a start commits first, a worker has the claim; a later start finds no claim.
  claims := array(
    select locked.id from (select * from unnest(dispatched_ids, tokens) as each (run_id, token) order by each.token) as given
    cross join lateral (
      select claim.id from holdfast_internal.run_claims as claim
      where claim.id = given.token and claim.worker = 0 and (given.run_id = any (claim.run_ids) or claim.bundled @> given.run_id) for update
    ) as locked
  );
  open_runs := holdfast_internal.runs_of_claims(claims);
  for open in
    select run.id as run_id, given.token, given.reason, given.history, run.dead_letter_id, run.lane_id, run.has_key, run.is_targeted, run.policy
    from (
      select distinct on (each.token) each.* from unnest(dispatched_ids, tokens, reasons, histories) as each (run_id, token, reason, history)
      where each.token = any (claims) order by each.token
    ) as given
    cross join lateral (select claim.run_ids from holdfast_internal.run_claims as claim where claim.id = given.token limit 1) as claim
    cross join unnest(claim.run_ids) as listed (id)
    cross join lateral (
      select run.id, run.dead_letter_id, run.lane_id, coalesce(run.ordering_key, run.concurrency_key) is not null as has_key, run.target is not null as is_targeted,
             coalesce((select job.settings ->> 'onTtl' from holdfast_internal.jobs as job where job.id = run.job_id), 'fail') as policy
      from holdfast_internal.runs as run where run.id = listed.id limit 1
    ) as run
    where run.id = any (open_runs) order by run.id
  loop
    if exists (select from holdfast_internal.run_cancellations as asked where asked.run_id = open.run_id)
      or open.reason in ('unpublished', 'worker_lost', 'queue_lost') or (open.reason = 'expired' and not open.is_targeted) then
      to_return := to_return || open.run_id;
      returned_tokens := returned_tokens || open.token;
    elsif open.reason = 'expired' and open.policy = 'share' then
      to_share := to_share || open.run_id;
      returned_tokens := returned_tokens || open.token;
    else
      held := held || open.run_id;
      held_reasons := held_reasons || open.reason;
      held_histories := held_histories || coalesce(open.history, 'null'::jsonb);
      held_letters := held_letters || coalesce(open.dead_letter_id, 0);
      failed_tokens := failed_tokens || open.token;
    end if;
    if open.has_key then
      key_lanes := key_lanes || open.lane_id;
    end if;
  end loop;
  delete from holdfast_internal.run_claims where id = any (claims);
  perform holdfast_internal.shut_claims(key_lanes);
  if to_share <> '{}' then
    update holdfast_internal.runs set target = null, ttl_at = null, ttl_ms = null where id = any (to_share);
    to_return := to_return || to_share;
  end if;
  if to_return <> '{}' then
    perform holdfast_internal.return_runs(to_return);
  end if;
  foreach reason in array array(select distinct word from unnest(held_reasons) as word order by word) loop
    perform holdfast_internal.fail_runs(
      array(select id from unnest(held, held_reasons) as given (id, word) where word = reason),
      case reason when 'expired' then 'worker_queue_ttl_expired' when 'delivery_limit' then 'broker_delivery_limit'
        when 'rejected' then 'broker_rejected' else 'broker_dead_lettered' end,
      case reason when 'expired' then 'worker_queue_ttl_expired' when 'delivery_limit' then 'broker_delivery_limit'
        when 'rejected' then 'broker_rejected' else 'broker_dead_lettered' end,
      case reason when 'expired' then 'Worker queue TTL expired' when 'delivery_limit' then 'Returned to the broker too often before it started'
        when 'rejected' then 'Rejected by its consumer' else 'Dead-lettered by the broker: ' || reason end,
      me);
  end loop;
  update holdfast_internal.dead_letters as letter set broker_failed_at = clock_timestamp(), broker_history = coalesce(nullif(given.history, 'null'), letter.broker_history)
  from unnest(held, held_letters, held_histories) as given (id, letter_id, history)
  where letter.delivery_id = any (held) and letter.delivery_id = given.id and given.letter_id = 0;
  update holdfast_internal.dead_letters as letter set broker_failed_at = clock_timestamp(), broker_history = coalesce(nullif(given.history, 'null'), letter.broker_history)
  from unnest(held_letters, held_histories) as given (letter_id, history)
  where letter.id = any (held_letters) and letter.id = given.letter_id;
  return query
  select given.run_id, case when given.token = any (failed_tokens) then 'failed' when given.token = any (returned_tokens) then 'returned' else 'ended' end
  from unnest(dispatched_ids, tokens) as given (run_id, token);
end $$;
