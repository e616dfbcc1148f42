-- The slow path of settle_successes, for a batch of which some are no longer pending, or were recorded before: its response was lost, another node
-- delivered them, they were declared dead meanwhile, or they belong to an earlier server start. `removed` are those that were pending until now.
-- A success always replaces a failure of the same attempt. A result whose id belongs to another lane or message is not recorded.
-- Returns the deliveries whose letters it resolved. Indexes: deliveries_pkey, dead_letters_delivery_id_key, attempts_pkey.
create or replace function holdfast_internal.record_late_successes(
  me integer, delivery_ids bigint[], message_ids bigint[], lanes integer[], route_ids integer[], attempt_numbers integer[],
  ages_ms double precision[], durations_ms integer[], status_codes integer[], removed bigint[]
) returns bigint[]
language plpgsql as $$
declare
  gone bigint[];
begin
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, duration_ms, outcome, status_code)
  select id, message_id, now() - make_interval(secs => coalesce(age, ages_ms[1]) / 1000), coalesce(number, attempt_numbers[1]), me,
         lane_id, route, coalesce(duration, durations_ms[1]), 1, status
  from unnest(delivery_ids, message_ids, lanes, route_ids, attempt_numbers, ages_ms, durations_ms, status_codes)
    as done (id, message, lane, route, number, age, duration, status)
  cross join lateral (select coalesce(message, id) as message_id, coalesce(lane, lanes[1]) as lane_id) as owner
  where id = any (removed) or not holdfast_internal.is_of_another(id, message_id, lane_id)
  on conflict (delivery_id, attempt, incarnation) do update set
    outcome = 1, status_code = excluded.status_code, duration_ms = excluded.duration_ms, error_code = null, error = null, detail = null
  where attempts.outcome <> 1 and attempts.lane_id = excluded.lane_id;
  -- A batch that is repeated must not reset failures that were counted since.
  if cardinality(removed) > 0 then
    perform holdfast_internal.reset_failures(lanes);
  end if;
  if cardinality(removed) < cardinality(delivery_ids) then
    gone := holdfast_internal.settle_late_successes(delivery_ids, message_ids, lanes);
  end if;
  return gone;
end $$;
