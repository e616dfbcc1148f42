-- The job of a run that a claim holds without a row, by the name in its message. (If the message is gone, any job will do for the dead letter,
-- preferably one of this queue.)
create or replace function holdfast_internal.job_of_bundled(run bigint, lane integer, out job_id integer, out priority smallint)
language sql stable as $$
  select job.id, coalesce((job.settings ->> 'priority')::smallint, 0)
  from holdfast_internal.jobs as job
  where job.id = coalesce(
    (
      select named.id from holdfast_internal.jobs as named
      where named.name = (
        select type from holdfast_internal.messages where id = run union all select type from holdfast_internal.messages_kept where id = run limit 1
      )
    ),
    (select other.id from holdfast_internal.jobs as other order by other.queue_id = lane desc, other.id limit 1)
  )
$$;
