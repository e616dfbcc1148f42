-- Like claim_runs_v2, for workers of an earlier version: it claims runs of every job, and the worker releases those that it has no handler for; of an
-- ordering key it claims one run at a time.
create or replace function holdfast_internal.claim_runs(
  me integer, lane integer, wanted integer, suspect_room integer, may_take_deadly boolean, request bigint default 0
)
returns table (
  claim bigint, id bigint, message_id bigint, job_id integer, attempt integer, crashes smallint, expires_at_ms double precision, body text,
  correlation_id text, headers jsonb, metadata jsonb, fresh_run_ids text, fresh_run_jobs text, fresh_run_expiries text, body_ids text,
  bodies text, body_extras jsonb, wait_ms double precision, xmin_seen bigint, next_seen bigint
)
language plpgsql as $$
begin
  return query
  select v2.claim, v2.id, v2.message_id, v2.job_id, v2.attempt, v2.crashes, v2.expires_at_ms, v2.body, v2.correlation_id, v2.headers, v2.metadata,
         v2.fresh_run_ids, v2.fresh_run_jobs, v2.fresh_run_expiries, v2.body_ids, v2.bodies, v2.body_extras, v2.wait_ms, v2.xmin_seen, v2.next_seen
  from holdfast_internal.claim_runs_v2(me, lane, wanted, suspect_room, may_take_deadly, request, null, 16777216, 1) as v2;
end $$;
