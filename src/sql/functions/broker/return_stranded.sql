-- Returns runs to their queues that were dispatched to one worker, though others could execute them, if that worker is gone, or has not started them
-- within 15 s although its messages are handled. Their messages stay in the broker: a worker asks before it executes one of these. Returns how many
-- messages. Index: run_claims_dispatched.
create or replace function holdfast_internal.return_stranded(max_rows integer, me integer) returns integer
language plpgsql as $$
declare
  tokens bigint[];
  ids bigint[];
  handled_through constant timestamptz := (select results_through from holdfast_internal.broker_state);
begin
  select array_agg(stranded.id), array_agg(stranded.run_id) into tokens, ids from (
    select claim.id, coalesce(claim.run_ids[1], lower(claim.bundled)) as run_id from holdfast_internal.run_claims as claim
    where claim.worker = 0 and claim.may_move
      and (claim.published_at < handled_through - interval '15 seconds'
        or not exists (select from holdfast_internal.workers as alive where alive.incarnation = claim.dispatched_for))
    order by claim.id limit max_rows
  ) as stranded;
  if ids is not null then
    perform holdfast_internal.end_dispatches(ids, tokens, array_fill('worker_lost'::text, array[cardinality(ids)]), '{}', me);
  end if;
  return coalesce(cardinality(ids), 0);
end $$;
