-- A success for a delivery that is no longer pending: another node delivered it, or it was declared dead meanwhile. It resolves the open letter
-- of the delivery, also if this is the letter's redrive, and cancels a redrive that has not started. Arrays as in settle_successes.
-- Returns the deliveries of those letters. Indexes: dead_letters_delivery_id_key, dead_letters_redriven.
create or replace function holdfast_internal.settle_late_successes(delivery_ids bigint[], message_ids bigint[], lanes integer[]) returns bigint[]
language plpgsql as $$
declare
  letters bigint[];
  unstarted bigint[];
  resolved bigint[];
  affected integer[];
begin
  letters := array(
    select letter.id
    from unnest(delivery_ids, message_ids, lanes) as done (id, message, lane)
    cross join lateral (
      select by_delivery.* from holdfast_internal.dead_letters as by_delivery where by_delivery.delivery_id = done.id
      union all
      select by_redrive.* from holdfast_internal.dead_letters as by_redrive where by_redrive.redriven_delivery_id = done.id
    ) as letter
    where letter.settled_at is null and letter.lane_id = coalesce(done.lane, lanes[1]) and letter.message_id = coalesce(done.message, done.id)
  );
  if cardinality(letters) = 0 then
    return null;
  end if;
  unstarted := array(
    select redrive.id
    from (
      select letter.redriven_delivery_id as id, letter.state, letter.settled_at
      from holdfast_internal.dead_letters as letter where letter.id = any (letters) offset 0
    ) as redrive
    where redrive.state = 'redriven' and redrive.settled_at is null and redrive.id <> all (delivery_ids) order by redrive.id
  );
  if unstarted <> '{}' then
    select array_agg(distinct lane_id) into affected
    from holdfast_internal.remove_deliveries(unstarted, attempts => array_fill(0, array[cardinality(unstarted)]));
  end if;
  with late as (
    update holdfast_internal.dead_letters set state = 'resolved', settled_at = clock_timestamp(), settled_by = 'holdfast', action = 'late_success'
    where id = any (letters) and settled_at is null
    returning delivery_id, lane_id, blocks_key
  ) select array_agg(delivery_id), affected || array_agg(distinct lane_id) filter (where blocks_key) into resolved, affected from late;
  perform holdfast_internal.tell_nodes('holdfast_lanes', lane || ' recount') from (select distinct unnest(affected) as lane) as told;
  return resolved;
end $$;
