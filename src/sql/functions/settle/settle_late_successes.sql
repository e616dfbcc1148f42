-- A success for a delivery that is no longer owed: somebody else finished it, or it was declared dead meanwhile. The fact resolves the letter that
-- is open for it, also when it is the letter's redrive, and cancels a redrive that nobody has started. Arrays as in settle_successes.
-- Returns the deliveries of those letters. Indexes: dead_letters_delivery_id_key, dead_letters_redriven.
create or replace function holdfast_internal.settle_late_successes(delivery_ids bigint[], message_ids bigint[], lanes integer[]) returns bigint[]
language plpgsql as $$
declare
  letters bigint[];
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
  with cancelled as (
    delete from holdfast_internal.deliveries as redriven using holdfast_internal.dead_letters as letter
    where letter.id = any (letters) and letter.state = 'redriven' and letter.settled_at is null
      and redriven.id = letter.redriven_delivery_id and redriven.id <> all (delivery_ids) and redriven.attempt = 0
    returning redriven.lane_id
  ) select array_agg(distinct lane_id) into affected from cancelled;
  with late as (
    update holdfast_internal.dead_letters set state = 'resolved', settled_at = clock_timestamp(), settled_by = 'holdfast', action = 'late_success'
    where id = any (letters) and settled_at is null
    returning delivery_id, lane_id, blocks_key
  ) select array_agg(delivery_id), affected || array_agg(distinct lane_id) filter (where blocks_key) into resolved, affected from late;
  perform holdfast_internal.tell_nodes('holdfast_lanes', lane || ' recount') from (select distinct unnest(affected) as lane) as told;
  return resolved;
end $$;
