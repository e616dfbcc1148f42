-- Ends runs that were not started before they expired.
create or replace function holdfast_internal.expire_runs(max_rows integer, me integer) returns integer
language plpgsql as $$
declare
  chosen bigint[];
  lanes integer[];
begin
  select array_agg(run.id), array_agg(distinct run.lane_id) into chosen, lanes from (
    select id, lane_id from holdfast_internal.runs as run
    where run.expires_at <= now() and run.claim_id is null and holdfast_internal.holder_of_run(run.id) is null
    order by run.expires_at limit max_rows
  ) as run;
  -- Claims take runs with a key without locking them.
  perform holdfast_internal.shut_claims(lanes);
  select array_agg(run.id) into chosen from (
    select id from holdfast_internal.runs as run
    where run.id = any (chosen) and run.claim_id is null and holdfast_internal.holder_of_run(run.id) is null order by run.id for update skip locked
  ) as run;
  if chosen is null then
    return 0;
  end if;
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
  select gone.id, coalesce(gone.message_id, gone.id), now(), gone.attempt + 1, me, gone.lane_id, 10, 'expired', 'nobody ran it in time'
  from holdfast_internal.end_runs(array(
    select run.id from (select id, due_at from holdfast_internal.runs where id = any (chosen) offset 0) as run where run.due_at is not null
  )) as gone
  on conflict do nothing;
  -- A fresh run belongs to the cursor: it is made due while claims are locked out, and expires in the next round.
  perform holdfast_internal.set_fresh_aside(chosen);
  return cardinality(chosen);
end $$;
