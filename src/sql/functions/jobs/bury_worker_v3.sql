-- Declares a worker dead and takes its runs away, if its heartbeat counter is still the one that the observer saw (null: in any case). Its runs are
-- returned with the crash counted; a run that has reached its job's maxCrashes becomes a dead letter instead of killing one worker after another. If
-- a blocked event loop was reported, the crash counts only for the runs that blocked it.
-- `lost_runs`: how many runs were returned; `buried`: how many of them became dead letters; `interrupted`: how many had started, as last recorded by
-- the worker; `correlation_ids`: of the first lost runs.
create or replace function holdfast_internal.bury_worker_v3(
  dead integer, seen_beat bigint, me integer, out lost_runs integer, out buried integer, out interrupted integer, out correlation_ids text[]
)
language plpgsql as $$
declare
  lost_name text;
  -- Null: any of its runs may have caused the crash.
  blocking bigint[];
  blocked_since timestamptz;
  lost bigint[];
  deadly bigint[];
  begun bigint[];
  begun_at timestamptz[];
begin
  lost_runs := 0;
  buried := 0;
  interrupted := 0;
  correlation_ids := '{}';
  perform pg_advisory_xact_lock(hashtext('holdfast.incarnation'), dead);
  select blocked_runs, blocked_at into blocking, blocked_since from holdfast_internal.workers where incarnation = dead;
  lost_name := holdfast_internal.remove_worker(dead, seen_beat);
  if lost_name is null then
    return;
  end if;
  lost := holdfast_internal.runs_of_claims(array(select id from holdfast_internal.run_claims where worker = dead));
  correlation_ids := holdfast_internal.correlations_of(lost);
  -- Runs that were claimed ahead had not started.
  select array_agg(noted.id), array_agg(noted.started_at) into begun, begun_at from (
    select each.id, each.started_at from holdfast_internal.in_flight as note cross join unnest(note.ids, note.started_at) as each (id, started_at)
    where note.incarnation = dead and each.id = any (lost)
    union
    -- The start of a handler that never yields to the event loop could not be recorded in in_flight.
    select each.id, blocked_since from unnest(blocking) as each (id)
    where each.id = any (lost) and not exists (select from holdfast_internal.in_flight as note where note.incarnation = dead and each.id = any (note.ids))
    order by 1
  ) as noted;
  if begun is not null then
    interrupted := holdfast_internal.interrupt_runs(begun, array_fill(dead, array[cardinality(begun)]), begun_at,
      'Recovered from worker %s, which died while this attempt was running.');
  end if;
  delete from holdfast_internal.in_flight where incarnation = dead;
  delete from holdfast_internal.run_claims where worker = dead;
  if blocking is null then
    perform holdfast_internal.return_runs(lost, 1);
  else
    perform holdfast_internal.return_runs(array(select id from unnest(lost) as id where id = any (blocking)), 1);
    perform holdfast_internal.return_runs(array(select id from unnest(lost) as id where id <> all (blocking)));
  end if;
  delete from holdfast_internal.run_cancellations where worker = dead;
  delete from holdfast_internal.run_progress where run_id = any (lost);
  select array_agg(run.id) into deadly from holdfast_internal.runs as run join holdfast_internal.jobs as job on job.id = run.job_id
  where run.id = any (lost) and run.crashes >= coalesce((job.settings ->> 'maxCrashes')::integer, 3);
  if deadly is not null then
    perform holdfast_internal.fail_runs(deadly, 'crashed_its_worker', 'crashed_its_worker', 'crashed its worker {crashes} times', me);
  end if;
  lost_runs := coalesce(cardinality(lost), 0);
  buried := coalesce(cardinality(deadly), 0);
  perform holdfast_internal.audit('holdfast', 'worker.lost', 'worker:' || dead,
                         jsonb_build_object('name', lost_name, 'runs', lost_runs, 'dead', buried, 'interrupted', interrupted));
end $$;
