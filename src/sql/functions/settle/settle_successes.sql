-- Arrays may be shorter than delivery_ids: what is missing is the number of the delivery itself (message_ids), nothing (route_ids,
-- status_codes), or what the first one is (the others).
create or replace function holdfast_internal.settle_successes(
  me integer, delivery_ids bigint[], message_ids bigint[], lanes integer[], route_ids integer[], attempt_numbers integer[],
  ages_ms double precision[], durations_ms integer[], status_codes integer[]
) returns bigint[]
language plpgsql as $$
declare
  removed integer;
  letters bigint[];
  gone bigint[];
begin
  -- Asked first, so that a batch pays for redrives only while there are some.
  if exists (select from holdfast_internal.dead_letters where state = 'redriven' and settled_at is null) then
    letters := array(select dead_letter_id from holdfast_internal.deliveries where id = any (delivery_ids) and dead_letter_id is not null);
  end if;
  delete from holdfast_internal.deliveries where id = any (delivery_ids);
  get diagnostics removed = row_count;
  -- What was owed until now has no success yet: without ON CONFLICT, every row is spared its speculative insertion. A batch that was stored
  -- before, and whose answer got lost, takes the other way. No exception block chooses between them: its rows would carry the number of a
  -- subtransaction, of which a snapshot can't say whether it had ended, and a replay would take up what its preview never saw.
  if removed = cardinality(delivery_ids) then
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome, status_code)
    select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
           coalesce(lane, lanes[1]), route, coalesce(duration, durations_ms[1]), 1, status
    from unnest(delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes)
      as done (id, message, lane, route, number, age, duration, status);
  else
    insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome, status_code)
    select id, coalesce(message, id), now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
           coalesce(lane, lanes[1]), route, coalesce(duration, durations_ms[1]), 1, status
    from unnest(delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes)
      as done (id, message, lane, route, number, age, duration, status)
    on conflict do nothing;
  end if;
  -- A batch that comes again must not undo what its failures, and those since, have counted.
  if removed > 0 then
    -- A row that somebody holds in an open transaction is passed over: no delivery waits for a person.
    update holdfast_internal.breakers set failures = 0
    where lane_id = any (array(
      select lane_id from holdfast_internal.breakers
      where lane_id = any (array(select distinct unnest(lanes))) and state = 'closed' and failures > 0
      for update skip locked
    ));
  end if;
  if cardinality(letters) > 0 then
    perform holdfast_internal.settle_redriven(letters);
  end if;
  if removed < cardinality(delivery_ids) then
    gone := holdfast_internal.settle_late_successes(delivery_ids);
  end if;
  return gone;
end $$;
