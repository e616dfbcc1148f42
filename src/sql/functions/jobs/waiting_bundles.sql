-- The remaining part of each bundle. One that lies completely behind the cursor was committed late: all of it waits.
create or replace view holdfast_internal.waiting_bundles as
  select bundle.lane_id, bundle.priority, bundle.last_id, bundle.job_id, bundle.published_by,
         case when bundle.last_id <= passed.id then bundle.first_id else greatest(bundle.first_id, passed.id + 1) end as first_id,
         bundle.ordering_keys, bundle.before_keys
  from holdfast_internal.run_bundles as bundle cross join lateral (
    select coalesce(
      (
        select cursor.cursors[bundle.priority + 1] from holdfast_internal.queue_cursors as cursor
        where cursor.lane_id = bundle.lane_id order by cursor.seq desc limit 1
      ), 0
    ) as id
  ) as passed;
