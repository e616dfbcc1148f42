-- In the transaction of a claim: its runs get a claim each, held by no worker until one of them starts. The number of that claim is the token of the
-- message. `ttl_ms`: how long the message may wait. Indexes: run_claims_pkey, runs_pkey.
create or replace function holdfast_internal.dispatch_claim(taken bigint)
returns table (run_id bigint, claim_id bigint, target text, ttl_ms double precision)
language plpgsql as $$
#variable_conflict use_column
declare
  held record;
  site_ttl_ms constant double precision := holdfast_internal.setting_integer('worker_queue_ttl_ms');
  tokens bigint[];
  ids bigint[];
begin
  perform holdfast_internal.take_out_of_claims(array[taken]);
  delete from holdfast_internal.run_claims where id = taken returning lane_id, worker, request, run_ids into held;
  if not found then
    return;
  end if;
  ids := array(select id from unnest(held.run_ids) as id order by id);
  tokens := array(select nextval('holdfast_internal.run_claims_seq') from unnest(ids));
  -- Fresh runs are a claim's because it lists them; the others name it too.
  update holdfast_internal.runs set claim_id = tokens[width_bucket(id, ids)] where id = any (ids) and claim_id is not distinct from taken;
  return query
  with waiting as (
    select run.id, run.target, case
             when run.target is not null and run.ttl_at > clock_timestamp() then extract(epoch from run.ttl_at - clock_timestamp())::double precision * 1000
             else coalesce(run.ttl_ms, site_ttl_ms)
           end as ttl_ms
    from (select * from holdfast_internal.runs where id = any (ids) offset 0) as run
  ), dispatched as (
    insert into holdfast_internal.run_claims (id, lane_id, worker, request, run_ids, dispatched_for, unstarted_until)
    select tokens[width_bucket(waiting.id, ids)], held.lane_id, 0, 0, array[waiting.id], held.worker,
           clock_timestamp() + make_interval(secs => waiting.ttl_ms / 1000)
    from waiting
  )
  select waiting.id, tokens[width_bucket(waiting.id, ids)], waiting.target, waiting.ttl_ms from waiting;
end $$;
