-- Makes the next run of each freed key claimable. Claims of the queues are locked out meanwhile: an earlier claim that saw the key in use has parked
-- the run by now, a later one sees the key free. Indexes: runs_ordered, runs_concurrent_parked.
create or replace function holdfast_internal.free_keys(lanes integer[], ordering_keys text[], concurrency_keys text[]) returns void
language plpgsql as $$
begin
  perform holdfast_internal.shut_claims(lanes);
  -- The run is set aside for its job and keeps its age: claims read runs that are set aside in the order of age. Runs that were in flight at a crash,
  -- or are targeted at a worker, become due instead: claims read them by other indexes.
  update holdfast_internal.runs as run set
    is_aside = run.crashes = 0 and run.target is null,
    due_at = case when run.crashes = 0 and run.target is null then run.due_at else clock_timestamp() end
  where run.id = any (array(
    select (
      -- Only a parked run needs an update.
      select case when next.claim_id is null and next.due_at = 'infinity' then next.id end from holdfast_internal.runs as next
      where next.ordering_key = freed.ordering_key and next.lane_id = freed.lane order by next.id limit 1
    )
    from (select distinct * from unnest(lanes, ordering_keys) as each (lane, ordering_key)) as freed
    union all
    select next.id
    from (select lane, concurrency_key, count(*) as slots from unnest(lanes, concurrency_keys) as each (lane, concurrency_key) group by 1, 2) as freed
    cross join lateral (
      select parked.id from holdfast_internal.runs as parked
      -- As a range: for `concurrency_key = … order by id` the planner may choose the index of all parked runs.
      where (parked.concurrency_key, parked.lane_id, parked.id) > (freed.concurrency_key, freed.lane, 0)
        and (parked.concurrency_key, parked.lane_id, parked.id) < (freed.concurrency_key, freed.lane + 1, 0)
        and parked.concurrency_key is not null and parked.claim_id is null and parked.due_at = 'infinity' and not parked.is_aside
      order by parked.concurrency_key, parked.lane_id, parked.id limit freed.slots
    ) as next
  )) and run.claim_id is null and run.due_at = 'infinity';
  -- Also if the next run is due already and needed no update.
  perform holdfast_internal.ring_workers(each) from (select distinct unnest(lanes) as each) as rung;
end $$;
