-- Makes fresh runs that no claim lists due, so that they no longer wait for the cursor.
create or replace function holdfast_internal.set_fresh_aside(chosen bigint[]) returns void
language plpgsql as $$
declare
  lane integer;
begin
  for lane in select distinct lane_id from holdfast_internal.runs where id = any (chosen) and due_at is null order by 1 loop
    perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
    update holdfast_internal.runs as run set due_at = clock_timestamp()
    where run.id = any (chosen) and run.lane_id = lane and run.due_at is null and holdfast_internal.holder_of_run(run.id) is null;
  end loop;
end $$;
