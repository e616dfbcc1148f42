-- A success ends the row of failures that a closed circuit has counted. A circuit that somebody holds in an open transaction is passed over: no delivery
-- waits for a person.
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
