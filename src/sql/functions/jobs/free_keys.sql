-- The next run of each freed key may go. The queue's claims wait meanwhile: one that has seen the key taken has parked its run by now, one that comes
-- later sees it free. Indexes: runs_ordered, runs_concurrent.
create or replace function holdfast_internal.free_keys(lanes integer[], ordering_keys text[], concurrency_keys text[]) returns void
language plpgsql as $$
declare
  shut integer;
begin
  for shut in select distinct each from unnest(lanes) as each order by each loop
    perform pg_advisory_xact_lock(hashtext('holdfast.claims'), shut);
  end loop;
  update holdfast_internal.runs as run set due_at = clock_timestamp() where run.id = any (array(
    select (
      select next.id from holdfast_internal.runs as next
      where next.ordering_key = freed.ordering_key and next.lane_id = freed.lane order by next.id limit 1
    )
    from (select distinct * from unnest(lanes, ordering_keys) as each (lane, ordering_key)) as freed
    union all
    select next.id
    from (select lane, concurrency_key, count(*) as slots from unnest(lanes, concurrency_keys) as each (lane, concurrency_key) group by 1, 2) as freed
    cross join lateral (
      select parked.id from holdfast_internal.runs as parked
      where parked.concurrency_key = freed.concurrency_key and parked.lane_id = freed.lane and parked.claim_id is null and parked.due_at = 'infinity'
      order by parked.id limit freed.slots
    ) as next
  -- Also one that was left in the due line, so that somebody is rung for it.
  )) and run.claim_id is null and (run.due_at = 'infinity' or run.due_at <= clock_timestamp());
  if found then
    perform holdfast_internal.ring_workers(each) from (select distinct unnest(lanes) as each) as rung;
  end if;
end $$;
