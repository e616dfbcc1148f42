-- The remaining part of the bundle that this run waits in. Bundles don't overlap, so only the first one that ends at or after it can contain it; the
-- others aren't read. Index: run_bundles_last_id_key.
create or replace function holdfast_internal.bundle_of(run bigint) returns setof holdfast_internal.waiting_bundles
language sql stable as $$
  select * from (select * from holdfast_internal.waiting_bundles where last_id >= run order by last_id limit 1) as next where first_id <= run
$$;
