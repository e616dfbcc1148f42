-- Deletes delivered rows, by id, lane and message, and settles the letters that they redrive. Returns the ids that were pending.
-- Arrays as in settle_successes. Index: deliveries_pkey; `is not distinct from` keeps the planner from using the index of the lane. The lane and message
-- of an id are looked up in arrays (`width_bucket` is the position of an id among sorted ones) and not joined: a planner that assumes an empty table
-- starts a join with it, and scans all of it.
create or replace function holdfast_internal.remove_delivered(delivery_ids bigint[], message_ids bigint[], lanes integer[]) returns bigint[]
language plpgsql as $$
declare
  removed bigint[];
  letters bigint[];
  ids bigint[];
  lanes_of integer[];
  messages_of bigint[];
begin
  if cardinality(message_ids) = 0 and cardinality(lanes) = 1 then
    with gone as (
      delete from holdfast_internal.deliveries
      where id = any (delivery_ids) and lane_id is not distinct from lanes[1] and message_id = id
      returning id, dead_letter_id
    )
    select array_agg(id), array_agg(dead_letter_id) filter (where dead_letter_id is not null) into removed, letters from gone;
  else
    select array_agg(done.id order by done.id), array_agg(coalesce(done.lane, lanes[1]) order by done.id),
           array_agg(coalesce(done.message, done.id) order by done.id)
    into ids, lanes_of, messages_of from unnest(delivery_ids, message_ids, lanes) as done (id, message, lane);
    with gone as (
      delete from holdfast_internal.deliveries as owed
      where owed.id = any (ids) and owed.lane_id is not distinct from lanes_of[width_bucket(owed.id, ids)] and owed.message_id = messages_of[width_bucket(owed.id, ids)]
      returning owed.id, owed.dead_letter_id
    )
    select array_agg(id), array_agg(dead_letter_id) filter (where dead_letter_id is not null) into removed, letters from gone;
  end if;
  if letters is not null then
    perform holdfast_internal.settle_redriven(letters);
  end if;
  return coalesce(removed, '{}');
end $$;
