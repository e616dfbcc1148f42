-- The targets in this queue that a worker with this name and these tags matches; found by a skip scan of runs_targeted.
create or replace function holdfast_internal.fitting_targets(lane integer, worker_name text, worker_tags text[]) returns text[]
language sql stable as $$
  with recursive every (target) as (
    (select target from holdfast_internal.runs where lane_id = lane and target is not null order by target limit 1)
    union all
    select (select run.target from holdfast_internal.runs as run where run.lane_id = lane and run.target > every.target order by run.target limit 1)
    from every where every.target is not null
  )
  select array_agg(target) from every
  where target = 'worker:' || worker_name
    or (starts_with(target, 'tags:') and string_to_array(substr(target, 6), ',') <@ worker_tags)
$$;
