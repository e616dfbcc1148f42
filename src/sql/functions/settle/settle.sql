-- Records successes and failures in one transaction and one round trip. Successes come first: a success before the first failure of a tally isn't
-- part of that tally, and must have reset the circuit's count by then.
create or replace function holdfast_internal.settle(
  me integer, delivery_ids bigint[], message_ids bigint[], lanes integer[], route_ids integer[], attempt_numbers integer[],
  ages_ms double precision[], durations_ms integer[], status_codes integer[], batch bigint, records jsonb, tallies jsonb
) returns table (refused bigint[], changed integer[])
language plpgsql as $$
begin
  perform holdfast_internal.settle_successes(
    me, delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes
  );
  return query select * from holdfast_internal.settle_failures(me, batch, records, tallies);
end $$;
