-- How many critical deliveries have been owed for longer than an hour, in these lanes (null: in all); `cap` at most. Index: deliveries_critical.
create or replace function holdfast_internal.overdue_critical(lanes integer[], cap integer) returns bigint
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
declare
  hour_ago timestamptz := clock_timestamp() - interval '1 hour';
  before_id bigint := holdfast_internal.id_at(hour_ago);
begin
  return (
    select count(*) from (
      select from holdfast_internal.deliveries as owed
      where owed.criticality = 2 and owed.id < before_id
        and coalesce(owed.owed_at < hour_ago, true) and (lanes is null or owed.lane_id = any (lanes))
      order by owed.lane_id, owed.id limit cap
    ) as overdue
  );
end $$;
