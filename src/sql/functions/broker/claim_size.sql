-- How many runs a claim was made with or still holds: those that it lists, and those without a row.
create or replace function holdfast_internal.claim_size(run_ids bigint[], bundled int8multirange) returns integer
language sql immutable as $$
  select (cardinality(run_ids) + coalesce((select sum(upper(part) - lower(part)) from unnest(bundled) as part), 0))::integer
$$;
