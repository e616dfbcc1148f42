-- A success for a delivery that is no longer owed: somebody else finished it, or it was declared dead meanwhile. The fact resolves the letter that
-- is open for it, also when it is the letter's redrive, and cancels a redrive that nobody has started.
-- Indexes: dead_letters_delivery_id_key, dead_letters_redriven.
create or replace function holdfast_internal.settle_late_successes(delivery_ids bigint[]) returns bigint[]
language plpgsql as $$
declare
  resolved bigint[];
  lanes integer[];
begin
  with cancelled as (
    delete from holdfast_internal.deliveries as redriven using holdfast_internal.dead_letters as letter
    where letter.delivery_id = any (delivery_ids) and letter.state = 'redriven' and letter.settled_at is null
      and redriven.id = letter.redriven_delivery_id and redriven.attempt = 0
    returning redriven.lane_id
  ) select array_agg(distinct lane_id) into lanes from cancelled;
  with late as (
    update holdfast_internal.dead_letters set state = 'resolved', settled_at = clock_timestamp(), settled_by = 'holdfast', action = 'late_success'
    where (delivery_id = any (delivery_ids) or redriven_delivery_id = any (delivery_ids)) and settled_at is null
    returning delivery_id, lane_id, blocks_key
  ) select array_agg(delivery_id), lanes || array_agg(distinct lane_id) filter (where blocks_key) into resolved, lanes from late;
  perform holdfast_internal.tell_nodes('holdfast_lanes', lane || ' recount') from (select distinct unnest(lanes) as lane) as affected;
  return resolved;
end $$;
