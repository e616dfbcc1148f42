-- The ids of this range that belong to runs without a row. Indexes: run_bundles_last_id_key.
create or replace function holdfast_internal.bundled_ids(first_id bigint, end_id bigint) returns setof bigint
language sql stable as $$
  select generate_series(greatest(bundle.first_id, bundled_ids.first_id), least(bundle.last_id, end_id - 1))
  from holdfast_internal.waiting_bundles as bundle where bundle.last_id >= bundled_ids.first_id and bundle.first_id < end_id
  union all
  select generate_series(lower(part), upper(part) - 1)
  from holdfast_internal.run_claims as claim
  cross join unnest(claim.bundled * int8multirange(int8range(bundled_ids.first_id, end_id))) as part
$$;
