-- Like dispatch_claim_v2, for nodes of an earlier version: every run is dispatched by itself.
create or replace function holdfast_internal.dispatch_claim(taken bigint)
returns table (run_id bigint, claim_id bigint, target text, ttl_ms double precision)
language plpgsql as $$
#variable_conflict use_column
declare
  ids bigint[];
begin
  select claim.run_ids || array(select generate_series(lower(range), upper(range) - 1) from unnest(claim.bundled) as range) into ids
  from holdfast_internal.run_claims as claim where claim.id = taken;
  return query
  select ids[dispatched.part], dispatched.claim_id, dispatched.target, dispatched.ttl_ms
  from holdfast_internal.dispatch_claim_v2(taken, array(
    select int8multirange(int8range(each.id, each.id, '[]')) from unnest(ids) with ordinality as each (id, place) order by each.place
  )) as dispatched;
end $$;
