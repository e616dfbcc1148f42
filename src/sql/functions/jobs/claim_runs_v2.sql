-- For workers of earlier versions, which don't read the ordering keys of fresh runs: they get one run of a key at a time.
create or replace function holdfast_internal.claim_runs_v2(
  me integer, lane integer, wanted integer, suspect_room integer, may_take_deadly boolean, request bigint, handled integer[], max_bytes bigint,
  max_chain integer
)
returns table (
  claim bigint, id bigint, message_id bigint, job_id integer, attempt integer, crashes smallint, expires_at_ms double precision, body text,
  correlation_id text, headers jsonb, metadata jsonb, fresh_run_ids text, fresh_run_jobs text, fresh_run_expiries text, body_ids text,
  bodies text, body_extras jsonb, wait_ms double precision, xmin_seen bigint, next_seen bigint, run_order text, ordering_key text
)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
  select claimed.claim, claimed.id, claimed.message_id, claimed.job_id, claimed.attempt, claimed.crashes, claimed.expires_at_ms, claimed.body,
         claimed.correlation_id, claimed.headers, claimed.metadata, claimed.fresh_run_ids, claimed.fresh_run_jobs, claimed.fresh_run_expiries,
         claimed.body_ids, claimed.bodies, claimed.body_extras, claimed.wait_ms, claimed.xmin_seen, claimed.next_seen, claimed.run_order, claimed.ordering_key
  from holdfast_internal.claim_runs_v3(me, lane, wanted, suspect_room, may_take_deadly, claim_runs_v2.request, handled, max_bytes, 1, 0) as claimed;
end $$;
