-- Makes claims read every due run of the queue again from the beginning: a recovery sweep for runs that a claim might have missed.
create or replace function holdfast_internal.rewind_floors(lane integer) returns void
language plpgsql as $$
declare
  state holdfast_internal.queue_cursors;
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
  select * into state from holdfast_internal.queue_cursors where lane_id = lane order by seq desc limit 1;
  if not found then
    return;
  end if;
  delete from holdfast_internal.queue_cursors where lane_id = lane and seq = state.seq;
  state.floors := array_fill('-infinity'::timestamptz, array[4]);
  state.seq := nextval('holdfast_internal.run_claims_seq');
  insert into holdfast_internal.queue_cursors select state.*;
end $$;
