-- A success resets the consecutive failures of a closed circuit. A circuit that is locked by an open transaction is skipped: no delivery
-- waits for it.
create or replace function holdfast_internal.reset_failures(lanes integer[]) returns void
language plpgsql as $$
begin
  update holdfast_internal.breakers set failures = 0
  where lane_id = any (array(
    select lane_id from holdfast_internal.breakers
    where lane_id = any (array(select distinct unnest(lanes))) and state = 'closed' and failures > 0
    for update skip locked
  ));
end $$;
