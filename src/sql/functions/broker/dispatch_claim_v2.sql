-- Divides the runs of a claim, in its transaction, into dispatches: each has the runs of one message. `parts`: the ids of each dispatch; together
-- they are the runs of the claim. A dispatch has its own claim, which no worker holds until one starts it, and the id of that claim is the token of
-- the message. Runs without a row stay without one. `ttl_ms`: how long the message may wait. Indexes: run_claims_pkey, runs_pkey.
create or replace function holdfast_internal.dispatch_claim_v2(taken bigint, parts int8multirange[])
returns table (part integer, claim_id bigint, target text, ttl_ms double precision)
language plpgsql as $$
#variable_conflict use_column
declare
  held record;
  site_ttl_ms constant double precision := holdfast_internal.setting_integer('worker_queue_ttl_ms');
  tokens bigint[];
  ids bigint[] := '{}';
  part_of integer[] := '{}';
begin
  delete from holdfast_internal.run_claims where id = taken returning lane_id, worker, run_ids, bundled into held;
  if not found then
    return;
  end if;
  if held.run_ids <> '{}' then
    select array_agg(listed.id order by listed.id), array_agg(given.part order by listed.id) into ids, part_of
    from unnest(parts) with ordinality as given (runs, part)
    cross join unnest(given.runs) as range cross join generate_series(lower(range), upper(range) - 1) as each (id)
    join unnest(held.run_ids) as listed (id) on listed.id = each.id;
  end if;
  if coalesce(cardinality(ids), 0) <> cardinality(held.run_ids)
    or not held.bundled <@ (select coalesce(range_agg(given.runs), '{}') from unnest(parts) as given (runs)) then
    raise exception 'claim % has runs that are in none of the dispatches', taken;
  end if;
  tokens := array(select nextval('holdfast_internal.run_claims_seq') from unnest(parts));
  -- A fresh run belongs to a claim because the claim lists it; the others also store the claim's id.
  update holdfast_internal.runs set claim_id = tokens[part_of[width_bucket(id, ids)]] where id = any (ids) and claim_id is not distinct from taken;
  return query
  with rows as materialized (
    select part_of[width_bucket(run.id, ids)] as part, array_agg(run.id) as ids, min(run.target) as target, min(case
             when run.target is not null and run.ttl_at > clock_timestamp() then extract(epoch from run.ttl_at - clock_timestamp())::double precision * 1000
             else coalesce(run.ttl_ms, site_ttl_ms)
           end) as ttl_ms
    from (select * from holdfast_internal.runs where id = any (ids) offset 0) as run group by 1
  ), dispatched as materialized (
    select given.part::integer as part, tokens[given.part] as token, coalesce(rows.ids, '{}') as ids, held.bundled * given.runs as bundled, rows.target,
           coalesce(rows.ttl_ms, site_ttl_ms) as ttl_ms
    from unnest(parts) with ordinality as given (runs, part) left join rows on rows.part = given.part
  ), stored as (
    insert into holdfast_internal.run_claims (id, lane_id, worker, request, run_ids, bundled, dispatched_for, unstarted_until)
    select dispatched.token, held.lane_id, 0, 0, dispatched.ids, dispatched.bundled, held.worker,
           clock_timestamp() + make_interval(secs => dispatched.ttl_ms / 1000)
    from dispatched
  )
  select dispatched.part, dispatched.token, dispatched.target, dispatched.ttl_ms from dispatched;
end $$;
