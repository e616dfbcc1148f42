-- How many critical deliveries have been pending for longer than an hour, in these lanes (null: in all); `cap` at most. Index: deliveries_critical,
-- by a skip scan over lanes: without a lane, `id < before_id` would be compared with every critical delivery of the last hour as well.
create or replace function holdfast_internal.overdue_critical(lanes integer[], cap integer) returns bigint
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
declare
  hour_ago timestamptz := clock_timestamp() - interval '1 hour';
  before_id bigint := holdfast_internal.id_at(hour_ago);
begin
  return (
    with recursive owing (lane_id) as (
      (select lane_id from holdfast_internal.deliveries where criticality = 2 order by lane_id, id limit 1)
      union all
      select next.lane_id from owing cross join lateral (
        select lane_id from holdfast_internal.deliveries where criticality = 2 and lane_id > owing.lane_id order by lane_id, id limit 1
      ) as next
    )
    select count(*) from (
      select from owing cross join lateral (
        select from holdfast_internal.deliveries as owed
        where owed.lane_id = owing.lane_id and owed.criticality = 2 and owed.id < before_id and coalesce(owed.owed_at < hour_ago, true)
        order by owed.lane_id, owed.id limit cap
      ) as late
      where lanes is null or owing.lane_id = any (lanes) limit cap
    ) as overdue
  );
end $$;
