-- Removes a job's former queues from its row when they have no more runs of the job: otherwise its workers would claim runs of other jobs there,
-- which they can't handle, and return them. A transaction from before the move may still store runs there, and one that has read the old queue may be
-- about to start: hence the hour. Returns how many jobs it changed. No index has runs by job: a call reads 200,000, and the next one continues after
-- them (`former_scan`), the job that was checked longest ago first. Index: runs_pkey.
create or replace function holdfast_internal.forget_former_queues() returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  max_scanned constant integer := 200000;
  job record;
  through bigint;
  found_lanes integer[];
  step record;
  scanned integer := 0;
  kept integer[];
  changed integer := 0;
begin
  for job in
    select id, name, former_queue_ids, moved_at, former_scan from holdfast_internal.jobs
    where former_queue_ids <> '{}' and moved_at < clock_timestamp() - interval '1 hour' and moved_by < pg_snapshot_xmin(pg_current_snapshot())
    order by former_seen_at nulls first, id limit 100 for update skip locked
  loop
    exit when scanned >= max_scanned;
    -- No runs of the job are stored in these queues any more, so ids that a step has passed aren't read again; after another move the scan starts
    -- again.
    if to_jsonb(job.moved_at) = job.former_scan -> 'movedAt' then
      through := (job.former_scan ->> 'through')::bigint;
      found_lanes := array(select lane::integer from jsonb_array_elements_text(job.former_scan -> 'found') as lane);
    else
      through := 0;
      found_lanes := '{}';
    end if;
    -- Bundles are checked in every step: a run that leaves its bundle gets a row, whose id the scan may have passed.
    found_lanes := found_lanes || array(
      select lane from unnest(job.former_queue_ids) as lane
      where exists (select from holdfast_internal.bundled_runs(array[lane], job.id, 9223372036854775807, 1))
    );
    select count(*)::integer as rows, max(run.id) as last_id,
           coalesce(array_agg(distinct run.lane_id) filter (where run.job_id = job.id and run.lane_id = any (job.former_queue_ids)), '{}') as lanes
    into step
    from (select each.id, each.lane_id, each.job_id from holdfast_internal.runs as each where each.id > through order by each.id limit max_scanned - scanned) as run;
    found_lanes := array(select distinct lane from unnest(found_lanes || step.lanes) as lane);
    if step.rows >= max_scanned - scanned then
      update holdfast_internal.jobs set former_scan = jsonb_build_object('movedAt', job.moved_at, 'through', step.last_id, 'found', found_lanes) where id = job.id;
      exit;
    end if;
    scanned := scanned + step.rows;
    kept := array(select lane from unnest(job.former_queue_ids) with ordinality as former (lane, place) where lane = any (found_lanes) order by place);
    update holdfast_internal.jobs set former_queue_ids = kept, former_scan = null, former_seen_at = clock_timestamp() where id = job.id;
    if kept <> job.former_queue_ids then
      perform holdfast_internal.notify('holdfast_jobs', job.name);
      changed := changed + 1;
    end if;
  end loop;
  return changed;
end $$;
