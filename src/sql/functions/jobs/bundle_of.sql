-- What is left of the bundle that this run waits in. Bundles don't overlap, so that only the first that ends behind it can be the one; the rest of the
-- line isn't looked at. Index: run_bundles_last_id_key.
create or replace function holdfast_internal.bundle_of(run bigint) returns setof holdfast_internal.waiting_bundles
language sql stable as $$
  select * from (select * from holdfast_internal.waiting_bundles where last_id >= run order by last_id limit 1) as next where first_id <= run
$$;
