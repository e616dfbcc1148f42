-- Gives one run that has no row a row, whether it waits in a bundle or is held by a claim; returns its queue, or null if the run has ended.
create or replace function holdfast_internal.take_out(run_id bigint) returns integer
language plpgsql as $$
declare
  alone constant int8multirange := int8multirange(int8range(run_id, run_id, '[]'));
  bundle record;
  lane integer;
begin
  loop
    perform holdfast_internal.take_out_of_claims(array(select id from holdfast_internal.run_claims where bundled @> run_id), alone);
    select lane_id into lane from holdfast_internal.runs where id = run_id;
    if found then
      return lane;
    end if;
    select lane_id into lane from holdfast_internal.bundle_of(run_id);
    if not found then
      -- It may have been claimed just now.
      continue when exists (select from holdfast_internal.run_claims where bundled @> run_id);
      return (select lane_id from holdfast_internal.runs where id = run_id);
    end if;
    begin
      perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
      select * into bundle from holdfast_internal.bundle_of(run_id);
      if not found then
        -- Claimed in the meantime. A transaction that settles it may hold the claim's row and wait for the queue: release the queue first.
        raise lock_not_available;
      end if;
      perform holdfast_internal.cut_bundle(bundle.lane_id, bundle.last_id, run_id, 1, clock_timestamp());
      return lane;
    exception when lock_not_available then
    end;
  end loop;
end $$;
