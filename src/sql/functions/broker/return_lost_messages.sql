-- Returns runs whose messages were lost with a queue of the broker: those in the shared queues of `lost_queues`, and those in the queue of the
-- workers named `lost_worker` (null: it was not lost). A message that a worker still holds is refused when it starts. Returns how many messages.
-- Indexes: run_claims_dispatched, queues_name_key, runs_pkey.
create or replace function holdfast_internal.return_lost_messages(lost_queues text[], lost_worker text, max_rows integer, me integer) returns integer
language plpgsql as $$
declare
  tokens bigint[];
  ids bigint[];
  lanes constant integer[] := array(select queue.id from holdfast_internal.queues as queue where queue.name = any (lost_queues));
  workers constant integer[] := array(select worker.incarnation from holdfast_internal.workers as worker where worker.name = lost_worker);
begin
  select array_agg(lost.id), array_agg(lost.run_id) into tokens, ids from (
    select claim.id, coalesce(claim.run_ids[1], lower(claim.bundled)) as run_id from holdfast_internal.run_claims as claim
    left join lateral (
      select starts_with(one.target, 'worker:') as is_aimed from holdfast_internal.runs as one where one.id = claim.run_ids[1] limit 1
    ) as run on true
    where claim.worker = 0 and claim.published_at is not null
      -- A run for one worker is in that worker's queue, any other in the shared queue.
      and case when claim.may_move or run.is_aimed then claim.dispatched_for = any (workers) else claim.lane_id = any (lanes) end
    order by claim.id limit max_rows
  ) as lost;
  if ids is not null then
    perform holdfast_internal.end_dispatches(ids, tokens, array_fill('queue_lost'::text, array[cardinality(ids)]), '{}', me);
  end if;
  return coalesce(cardinality(ids), 0);
end $$;
