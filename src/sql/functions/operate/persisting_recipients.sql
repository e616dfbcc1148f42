-- Endpoints with critical events that don't arrive: how many, since when, the oldest, and the receiver's last answer. Of overdue deliveries at most
-- 100,000 per endpoint are counted. Indexes: letter_counts_pkey, dead_letters_critical, deliveries_critical (by a skip scan over lanes),
-- attempts_failed.
create or replace function holdfast_internal.persisting_recipients()
returns table (
  endpoint text, contact text, dead_letters bigint, overdue bigint, since timestamptz, oldest_message_id bigint, last_error text, last_error_at timestamptz
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
#variable_conflict use_column
declare
  hour_ago timestamptz := now() - interval '1 hour';
begin
  return query
  with recursive owing (lane_id) as (
    (select lane_id from holdfast_internal.deliveries where criticality = 2 order by lane_id, id limit 1)
    union all
    select next.lane_id from owing cross join lateral (
      select lane_id from holdfast_internal.deliveries where criticality = 2 and lane_id > owing.lane_id order by lane_id, id limit 1
    ) as next
  ), dead as materialized (
    select lane_id, sum(letters)::bigint as letters from holdfast_internal.counted_letters() where criticality = 2 and not is_settled
    group by lane_id having sum(letters) > 0
  ), lanes as materialized (
    select lane_id from owing union select lane_id from dead
  )
  select known.name, known.contact, coalesce(dead.letters, 0), late.deliveries, least(oldest.created_at, late.since),
         case when oldest.created_at <= late.since or late.since is null then oldest.message_id else late.message_id end,
         failed.error, failed.started_at
  from lanes
  cross join lateral (select one.name, one.contact from holdfast_internal.endpoints as one where one.id = lanes.lane_id limit 1) as known
  left join dead on dead.lane_id = lanes.lane_id
  left join lateral (
    select letter.created_at, letter.message_id from holdfast_internal.dead_letters as letter
    where letter.lane_id = lanes.lane_id and letter.criticality = 2 and letter.settled_at is null
    order by letter.lane_id, letter.id limit 1
  ) as oldest on true
  cross join lateral (
    select count(*) as deliveries, min(one.since) as since, (array_agg(one.message_id order by one.since, one.id))[1] as message_id from (
      select owed.id, owed.message_id, coalesce(owed.owed_at, holdfast_internal.time_of_id(owed.id)) as since
      from holdfast_internal.deliveries as owed
      where owed.lane_id = lanes.lane_id and owed.criticality = 2 and owed.dead_letter_id is null
        and coalesce(owed.owed_at, holdfast_internal.time_of_id(owed.id)) < hour_ago
      order by owed.lane_id, owed.id limit 100000
    ) as one
  ) as late
  left join lateral (
    select tried.error, tried.started_at from holdfast_internal.attempts as tried
    where (tried.lane_id, tried.delivery_id) <= (lanes.lane_id, 9223372036854775807) and (tried.lane_id, tried.delivery_id) >= (lanes.lane_id, 0)
      and tried.outcome <> 1 and tried.outcome < 10
    order by tried.lane_id desc, tried.delivery_id desc limit 1
  ) as failed on true
  where dead.letters > 0 or late.deliveries > 0
  order by 5;
end $$;
