-- Buries runs that nobody holds (or whose holder has just lost them), with one reason for all, and frees their keys.
create or replace function holdfast_internal.fail_runs(chosen bigint[], why text, code text, message text, actor integer) returns integer
language plpgsql as $$
declare
  records jsonb;
  key_lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
begin
  select jsonb_agg(jsonb_build_object(
           'id', run.id, 'message', coalesce(run.message_id, run.id), 'lane', run.lane_id, 'attempt', run.attempt, 'expected', run.attempt,
           'outcome', 2, 'action', 'dead', 'reason', why, 'errorCode', code, 'error', replace(message, '{crashes}', run.crashes::text)
         )),
         array_agg(run.lane_id) filter (where coalesce(run.ordering_key, run.concurrency_key) is not null),
         array_agg(run.ordering_key) filter (where coalesce(run.ordering_key, run.concurrency_key) is not null),
         array_agg(run.concurrency_key) filter (where coalesce(run.ordering_key, run.concurrency_key) is not null)
  into records, key_lanes, ordering_keys, concurrency_keys
  from holdfast_internal.runs as run where run.id = any (chosen);
  if records is null then
    return 0;
  end if;
  perform holdfast_internal.bury_runs(records, chosen, actor);
  delete from holdfast_internal.run_cancellations where run_id = any (chosen);
  delete from holdfast_internal.run_progress where run_id = any (chosen);
  if key_lanes is not null then
    perform holdfast_internal.free_keys(key_lanes, ordering_keys, concurrency_keys);
  end if;
  return cardinality(chosen);
end $$;
