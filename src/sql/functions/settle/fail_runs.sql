-- Makes dead letters of runs that no worker holds (or whose worker has just lost them), with one reason for all. `is_counted`: whether they count as
-- failures of their job, for auto-disable.
create or replace function holdfast_internal.fail_runs(chosen bigint[], why text, code text, message text, actor integer, is_counted boolean default true) returns integer
language plpgsql as $$
declare
  records jsonb;
begin
  select jsonb_agg(jsonb_build_object(
           'id', run.id, 'message', coalesce(run.message_id, run.id), 'lane', run.lane_id, 'attempt', run.attempt, 'expected', run.attempt,
           'outcome', 2, 'action', 'dead', 'reason', why, 'errorCode', code, 'error', replace(message, '{crashes}', run.crashes::text)
         ))
  into records
  from holdfast_internal.runs as run where run.id = any (chosen);
  if records is null then
    return 0;
  end if;
  perform holdfast_internal.bury_runs(records, chosen, actor, is_counted);
  delete from holdfast_internal.run_cancellations where run_id = any (chosen);
  delete from holdfast_internal.run_progress where run_id = any (chosen);
  return cardinality(chosen);
end $$;
