-- Stores since when no live worker takes runs of a job, for jobs with `onUnhandled: "fail"`. Index: none; all jobs are read.
create or replace function holdfast_internal.note_unhandled() returns void
language plpgsql as $$
begin
  update holdfast_internal.jobs as job set unhandled_since = case when judged.is_unhandled then clock_timestamp() end
  from (
    select each.id, each.settings ->> 'onUnhandled' = 'fail' and each.state = 'active' and not exists (
             select from unnest(each.queue_id || each.former_queue_ids) as lane where holdfast_internal.handles_job(lane, each.id)
           ) as is_unhandled
    from holdfast_internal.jobs as each where each.settings ? 'onUnhandled' or each.unhandled_since is not null
  ) as judged
  where job.id = judged.id and (job.unhandled_since is null) = coalesce(judged.is_unhandled, false);
end $$;
