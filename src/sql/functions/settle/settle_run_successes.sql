-- Removes runs that succeeded and records them. No claim is required, but a result belongs to the run of its id, lane and message, and changes no
-- other.
-- Arrays may be shorter than run_ids: missing elements are null (message_ids, details), or equal to the first one (the others). `run_set`: the
-- same ids, for the claims that hold some of them without a row.
create or replace function holdfast_internal.settle_run_successes(
  me integer, run_ids bigint[], run_set int8multirange, claims bigint[], message_ids bigint[], lanes integer[], attempt_numbers integer[],
  ages_ms double precision[], durations_ms integer[], details jsonb[], ended_claims bigint[]
) returns void
language plpgsql as $$
declare
  removed integer;
  removed_rows holdfast_internal.runs[];
  jobs_done integer[];
  letters bigint[];
  foreign_ids bigint[] := '{}';
begin
  perform holdfast_internal.commit_durably();
  -- Claims before rows: a transaction that gives runs of a claim their rows has the claim locked, so the rows are visible afterwards.
  with held as materialized (
    select claim.id, claim.bundled * run_set as settled from holdfast_internal.run_claims as claim
    where claim.id = any (claims) and claim.lane_id = any (lanes) and claim.bundled && run_set order by claim.id for update
  ), freed as (
    update holdfast_internal.run_claims as claim set bundled = claim.bundled - run_set from held where claim.id = held.id
  )
  select coalesce(sum(upper(part) - lower(part)), 0) into removed from held cross join unnest(held.settled) as part;
  if removed > 0 and exists (select from holdfast_internal.jobs where streak > 0 and (queue_id = any (lanes) or former_queue_ids && lanes)) then
    jobs_done := array(
      select distinct job.id from holdfast_internal.messages as message join holdfast_internal.jobs as job on job.name = message.type
      where message.id = any (run_ids) and job.streak > 0
    );
  end if;
  if removed < cardinality(run_ids) then
    -- Locked in the order of ids, as by the transactions that take a dead worker's runs away.
    removed_rows := holdfast_internal.remove_runs(array(
      select held.id from (
        select done.id, coalesce(done.message, done.id) as message, coalesce(done.lane, lanes[1]) as lane
        from unnest(run_ids, message_ids, lanes) as done (id, message, lane) order by done.id
      ) as done cross join lateral (
        select run.id from holdfast_internal.runs as run
        where run.id = done.id and run.lane_id is not distinct from done.lane and coalesce(run.message_id, run.id) = done.message
        for update
      ) as held
    ));
    select jobs_done || array_agg(distinct gone.job_id), array_agg(gone.dead_letter_id) filter (where gone.dead_letter_id is not null)
    into jobs_done, letters from unnest(removed_rows) as gone;
    removed := removed + coalesce(cardinality(removed_rows), 0);
    if removed < cardinality(run_ids) then
      removed := removed + holdfast_internal.end_waiting(run_ids, lanes);
    end if;
    if removed < cardinality(run_ids) then
      foreign_ids := array(
        select done.id from unnest(run_ids, message_ids, lanes) as done (id, message, lane)
        where holdfast_internal.is_of_another_run(done.id, coalesce(done.message, done.id), coalesce(done.lane, lanes[1]))
      );
    end if;
  end if;
  perform holdfast_internal.record_run_successes(me, run_ids, message_ids, lanes, attempt_numbers, ages_ms, durations_ms, details, foreign_ids);
  if removed_rows is not null then
    perform holdfast_internal.free_keys_of(removed_rows);
  end if;
  -- In broker mode, the node that records results doesn't know which runs of a dispatch are left.
  delete from holdfast_internal.run_claims as ended
  where ended.id = any (ended_claims) and ended.worker = me and ended.bundled = '{}'
    and (ended.dispatched_for is null or not holdfast_internal.holds_listed_runs(ended.id, ended.run_ids));
  update holdfast_internal.jobs set streak = 0, streak_started_at = null
  where id = any (array(
    select id from holdfast_internal.jobs where id = any (jobs_done) and streak > 0 order by id for update skip locked
  ));
  if letters is not null then
    perform holdfast_internal.settle_redriven(letters);
  end if;
  if removed < cardinality(run_ids) then
    perform holdfast_internal.settle_late_run_successes(array(select id from unnest(run_ids) as id where id <> all (foreign_ids)));
  end if;
end $$;
