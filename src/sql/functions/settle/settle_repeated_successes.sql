-- Like settle_successes, if an attempt of the same number is recorded already.
create or replace function holdfast_internal.settle_repeated_successes(
  me integer, delivery_ids bigint[], message_ids bigint[], lanes integer[], route_ids integer[], attempt_numbers integer[],
  ages_ms double precision[], durations_ms integer[], status_codes integer[]
) returns bigint[]
language plpgsql as $$
begin
  perform holdfast_internal.commit_durably();
  return holdfast_internal.record_late_successes(
    me, delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes,
    holdfast_internal.remove_delivered(delivery_ids, message_ids, lanes)
  );
end $$;
