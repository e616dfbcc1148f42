-- Pending deliveries and runs of a range of ids that have attempts: unlike dead letters, they don't store copies of their attempts. Indexes:
-- deliveries_pkey, runs_pkey.
create or replace function holdfast_internal.tried_and_owed(first_id bigint, end_id bigint) returns setof bigint
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
begin
  return query
  select id from holdfast_internal.deliveries where id >= first_id and id < end_id and attempt > 0
  union all select id from holdfast_internal.runs where id >= first_id and id < end_id and attempt > 0;
end $$;
