-- What nobody ran in time ends.
create or replace function holdfast_internal.expire_runs(max_rows integer, me integer) returns integer
language plpgsql as $$
declare
  chosen bigint[];
  key_lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
begin
  select array_agg(run.id) into chosen from (
    select id from holdfast_internal.runs as run
    where run.expires_at <= now() and run.claim_id is null and holdfast_internal.holder_of_run(run.id) is null
    order by run.expires_at limit max_rows for update skip locked
  ) as run;
  if chosen is null then
    return 0;
  end if;
  with gone as (
    delete from holdfast_internal.runs where id = any (chosen) and due_at is not null returning *
  ), recorded as (
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
    select id, coalesce(message_id, id), now(), attempt + 1, me, lane_id, 10, 'expired', 'nobody ran it in time' from gone
    on conflict do nothing
  )
  select array_agg(lane_id) filter (where coalesce(ordering_key, concurrency_key) is not null),
         array_agg(ordering_key) filter (where coalesce(ordering_key, concurrency_key) is not null),
         array_agg(concurrency_key) filter (where coalesce(ordering_key, concurrency_key) is not null)
  into key_lanes, ordering_keys, concurrency_keys from gone;
  if key_lanes is not null then
    perform holdfast_internal.free_keys(key_lanes, ordering_keys, concurrency_keys);
  end if;
  -- A fresh one belongs to the cursor: it is set aside with its claims shut out, and taken on the next round.
  perform holdfast_internal.set_fresh_aside(chosen);
  return cardinality(chosen);
end $$;
