-- Locks those of the records' runs that their claims still hold, in the order of ids, so that concurrent transactions can't deadlock. `key_lanes`: the
-- queues of those that have a key. Indexes: runs_pkey, run_claims_pkey.
create or replace function holdfast_internal.hold_runs(me integer, records jsonb, out held bigint[], out key_lanes integer[])
language plpgsql as $$
begin
  perform holdfast_internal.take_out_of_claims(
    array(select id from holdfast_internal.run_claims where worker = me and id = any (array(select r.claim from holdfast_internal.run_records(records) as r))),
    holdfast_internal.id_ranges(array(select distinct r.id from holdfast_internal.run_records(records) as r order by r.id))
  );
  select array_agg(locked.id), array_agg(distinct locked.lane_id) filter (where coalesce(locked.ordering_key, locked.concurrency_key) is not null)
  into held, key_lanes
  from (select * from holdfast_internal.run_records(records) as r order by r.id) as given
  cross join lateral (
    select run.id, run.lane_id, run.ordering_key, run.concurrency_key from holdfast_internal.runs as run
    where run.id = given.id and run.lane_id is not distinct from given.lane and coalesce(run.message_id, run.id) = given.message
      and run.attempt = given.expected and holdfast_internal.holds_run(given.claim, me, run)
    for update
  ) as locked;
end $$;
