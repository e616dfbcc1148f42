-- The ordering keys of the bundle's runs; null: they have none. A run's key is ordering_keys[id - before_keys]: the array stays as it is when runs at the
-- front leave.
alter table holdfast_internal.run_bundles add column ordering_keys text[], add column before_keys bigint;
-- Whether a queue has such bundles, and where the first one begins.
create index run_bundles_ordered on holdfast_internal.run_bundles (lane_id, last_id) where ordering_keys is not null;
