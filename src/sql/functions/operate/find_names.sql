-- Objects whose name contains a text, ignoring case: endpoints, routes, event types, jobs, queues, schedules, workers; at most max_each of a kind, by
-- name. Indexes: endpoints_name_key, routes_name_key, event_types_pkey, jobs_name_key, queues_name_key, schedules_name_key, workers_pkey.
create or replace function holdfast_internal.find_names(part text, max_each integer)
returns table (kind text, name text, hint text)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
#variable_conflict use_column
declare
  wanted text := lower(part);
begin
  return query
  (select 'endpoint', found.name, found.state from holdfast_internal.endpoints as found
   where strpos(lower(found.name), wanted) > 0 order by found.name limit max_each)
  union all
  (select 'route', found.name, found.event_type from holdfast_internal.routes as found
   where strpos(lower(found.name), wanted) > 0 order by found.name limit max_each)
  union all
  (select 'event_type', found.name, found.description from holdfast_internal.event_types as found
   where strpos(lower(found.name), wanted) > 0 order by found.name limit max_each)
  union all
  (select 'job', found.name, found.state from holdfast_internal.jobs as found
   where strpos(lower(found.name), wanted) > 0 order by found.name limit max_each)
  union all
  (select 'queue', found.name, found.state from holdfast_internal.queues as found
   where strpos(lower(found.name), wanted) > 0 order by found.name limit max_each)
  union all
  (select 'schedule', found.name, found.cron from holdfast_internal.schedules as found
   where strpos(lower(found.name), wanted) > 0 order by found.name limit max_each)
  union all
  (select 'worker', found.name, found.state from (select one.name, one.state from holdfast_internal.workers as one order by one.incarnation limit 10000) as found
   where strpos(lower(found.name), wanted) > 0 limit max_each);
end $$;
