-- How many deliveries are pending, for soft limits, from the last reports of nodes: a check costs the same at any depth. A limit can be exceeded by
-- what is published within one report interval (a second).
create or replace function holdfast_internal.owed_overall() returns bigint
language plpgsql stable set jit = off as $$
begin
  return coalesce(
    (select sum(pending) from holdfast_internal.nodes where beat_at > clock_timestamp() - interval '10 seconds'),
    -- If no node reports, the planner's last estimate is used; it too costs the same at any depth.
    (select greatest(reltuples, 0) from pg_class where oid = 'holdfast_internal.deliveries'::regclass)
  );
end $$;
