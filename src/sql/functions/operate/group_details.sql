-- Details of groups of letters beside their counts: how many were added in each of the last 24 hours (a hundred an hour at most), along which routes (of
-- the newest fifty), and the last change of their endpoint or one of these routes in the five minutes before the first letter.
-- Indexes: dead_letters_group, routes_pkey, audit_log_subject.
create or replace function holdfast_internal.group_details(lanes integer[], fingerprints text[], first_seen timestamptz[], wanted_state text)
returns table (place integer, series integer[], routes text[], change_at timestamptz, change_action text, change_subject text)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
declare
  max_an_hour constant integer := 100;
  states constant text[] := case when wanted_state is null then array['discarded', 'erased', 'open', 'redriven', 'resolved'] else array[wanted_state] end;
  begins constant timestamptz := date_trunc('hour', clock_timestamp(), 'UTC') - interval '23 hours';
begin
  return query
  select asked.number::integer, hours.counts, known.names, change.at, change.action, change.subject
  from unnest(lanes, fingerprints, first_seen) with ordinality as asked (lane, print, first_at, number)
  cross join lateral (
    select array_agg(least(counted.letters, max_an_hour)::integer order by hour) as counts from generate_series(0, 23) as hour
    cross join lateral (
      select count(*) as letters from unnest(states) as given (state) cross join lateral (
        select letter.id from holdfast_internal.dead_letters as letter
        -- As row comparisons, so that no other index has this order.
        where (letter.lane_id, letter.fingerprint, letter.state, letter.id)
            >= (asked.lane, asked.print, given.state, holdfast_internal.id_at(begins + hour * interval '1 hour'))
          and (letter.lane_id, letter.fingerprint, letter.state, letter.id)
            < (asked.lane, asked.print, given.state, holdfast_internal.id_at(begins + (hour + 1) * interval '1 hour'))
          and letter.lane_id >= asked.lane
        order by letter.lane_id, letter.fingerprint, letter.state, letter.id limit max_an_hour
      ) as found
    ) as counted
  ) as hours
  cross join lateral (
    select coalesce(array_agg(distinct route.name), '{}') as names from unnest(states) as given (state)
    cross join lateral (
      select letter.route_id from holdfast_internal.dead_letters as letter
      where (letter.lane_id, letter.fingerprint, letter.state, letter.id) <= (asked.lane, asked.print, given.state, 9223372036854775807)
        and (letter.lane_id, letter.fingerprint, letter.state, letter.id) >= (asked.lane, asked.print, given.state, 0) and letter.lane_id <= asked.lane
      order by letter.lane_id desc, letter.fingerprint desc, letter.state desc, letter.id desc limit 50
    ) as newest
    cross join lateral (select one.name from holdfast_internal.routes as one where one.id = newest.route_id limit 1) as route
  ) as known
  left join lateral (
    select entry.at, entry.action, entry.subject
    from unnest(array_append(array(select 'route:' || name from unnest(known.names) as name), holdfast_internal.subject_of(asked.lane))) as named (subject)
    cross join lateral (
      select one.at, one.action, one.subject from holdfast_internal.audit_log as one where one.subject = named.subject
      order by one.subject desc, one.id desc limit 50
    ) as entry
    where entry.at <= asked.first_at and entry.at > asked.first_at - interval '5 minutes'
      and (entry.action like 'route.%' or entry.action in ('endpoint.created', 'endpoint.updated', 'endpoint.secret_rotated'))
    order by entry.at desc limit 1
  ) as change on true
  order by asked.number;
end $$;
