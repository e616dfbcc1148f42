-- These runs were returned: if they have to wait, other runs of their concurrency keys may start instead.
create or replace function holdfast_internal.free_slots_of(returned bigint[]) returns void
language plpgsql as $$
declare
  key_lanes integer[];
  concurrency_keys text[];
begin
  select array_agg(lane_id), array_agg(concurrency_key) into key_lanes, concurrency_keys
  from (select lane_id, concurrency_key from holdfast_internal.runs where id = any (returned) offset 0) as run where concurrency_key is not null;
  if key_lanes is not null then
    perform holdfast_internal.free_keys(key_lanes, array[]::text[], concurrency_keys);
  end if;
end $$;
