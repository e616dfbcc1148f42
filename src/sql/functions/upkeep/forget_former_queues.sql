-- Jobs stop using queues that they have left and that have no more runs of theirs: otherwise their workers would claim others' runs, which they can't handle, and
-- return them. A transaction from before the move may still store runs there, and one that has read the old queue may be about to begin; the
-- hour is for those. Returns how many jobs it concerns. No index finds the runs of a job: it scans the queue's.
create or replace function holdfast_internal.forget_former_queues() returns integer
language plpgsql as $$
declare
  job record;
  kept integer[];
  changed integer := 0;
begin
  for job in
    select id, name, former_queue_ids from holdfast_internal.jobs
    where former_queue_ids <> '{}' and moved_at < clock_timestamp() - interval '1 hour' and moved_by < pg_snapshot_xmin(pg_current_snapshot())
    order by id limit 100 for update skip locked
  loop
    kept := array(
      select lane from unnest(job.former_queue_ids) with ordinality as former (lane, place)
      where exists (select from holdfast_internal.runs as run where run.lane_id = lane and run.job_id = job.id)
        or exists (select from holdfast_internal.bundled_runs(array[lane], job.id, 9223372036854775807, 1))
      order by place
    );
    if kept <> job.former_queue_ids then
      update holdfast_internal.jobs set former_queue_ids = kept where id = job.id;
      perform holdfast_internal.notify('holdfast_jobs', job.name);
      changed := changed + 1;
    end if;
  end loop;
  return changed;
end $$;
