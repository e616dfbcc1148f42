-- Removes delivered rows and records them. No lease is required, but a result belongs to the delivery of its id, lane and message, and changes
-- no other.
-- Arrays may be shorter than delivery_ids: missing elements are the id of the delivery itself (message_ids), null (route_ids,
-- status_codes), or equal to the first one (the others).
create or replace function holdfast_internal.settle_successes(
  me integer, delivery_ids bigint[], message_ids bigint[], lanes integer[], route_ids integer[], attempt_numbers integer[],
  ages_ms double precision[], durations_ms integer[], status_codes integer[]
) returns bigint[]
language plpgsql as $$
declare
  removed bigint[];
begin
  perform holdfast_internal.commit_durably();
  removed := holdfast_internal.remove_delivered(delivery_ids, message_ids, lanes);
  if cardinality(removed) < cardinality(delivery_ids) then
    return holdfast_internal.record_late_successes(
      me, delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes, removed
    );
  end if;
  -- A delivery that was pending until now has no success yet: without ON CONFLICT, every row saves a speculative insertion. An attempt of the same
  -- number may exist as a failure whose decision was refused: this raises a unique violation then, and the node calls settle_repeated_successes.
  -- No exception block handles it here: its rows would have the id of a subtransaction, for which a snapshot can't show whether it had ended, and a
  -- replay would include rows that its preview never saw.
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome, status_code)
  select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
         coalesce(lane, lanes[1]), route, coalesce(duration, durations_ms[1]), 1, status
  from unnest(delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes)
    as done (id, message, lane, route, number, age, duration, status);
  perform holdfast_internal.reset_failures(lanes);
  return null;
end $$;
