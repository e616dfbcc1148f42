-- Takes delivered ones off what is owed, by id, lane and message, and settles the letters that they redrive. Returns the ids that were owed.
-- Arrays as in settle_successes. Index: deliveries_pkey; `+ 0` keeps the planner from the index of the lane, which it would search from end to end for
-- each id.
create or replace function holdfast_internal.remove_delivered(delivery_ids bigint[], message_ids bigint[], lanes integer[]) returns bigint[]
language plpgsql as $$
declare
  removed bigint[];
  letters bigint[];
begin
  if cardinality(message_ids) = 0 and cardinality(lanes) = 1 then
    with gone as (
      delete from holdfast_internal.deliveries
      where id = any (delivery_ids) and lane_id + 0 = lanes[1] and message_id = id
      returning id, dead_letter_id
    )
    select array_agg(id), array_agg(dead_letter_id) filter (where dead_letter_id is not null) into removed, letters from gone;
  else
    with gone as (
      delete from holdfast_internal.deliveries as owed using unnest(delivery_ids, message_ids, lanes) as done (id, message, lane)
      where owed.id = done.id and owed.lane_id + 0 = coalesce(done.lane, lanes[1]) and owed.message_id = coalesce(done.message, done.id)
      returning owed.id, owed.dead_letter_id
    )
    select array_agg(id), array_agg(dead_letter_id) filter (where dead_letter_id is not null) into removed, letters from gone;
  end if;
  if letters is not null then
    perform holdfast_internal.settle_redriven(letters);
  end if;
  return coalesce(removed, '{}');
end $$;
