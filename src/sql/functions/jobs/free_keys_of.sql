-- Makes the next runs of the keys of these ended runs claimable. Claims of the queues wait from here until the transaction has ended: it is called late.
create or replace function holdfast_internal.free_keys_of(ended holdfast_internal.runs[]) returns void
language plpgsql as $$
declare
  lanes integer[];
  ordering_keys text[];
  concurrency_keys text[];
begin
  select array_agg(run.lane_id), array_agg(run.ordering_key), array_agg(run.concurrency_key) into lanes, ordering_keys, concurrency_keys
  from unnest(ended) as run where coalesce(run.ordering_key, run.concurrency_key) is not null;
  if lanes is not null then
    perform holdfast_internal.free_keys(lanes, ordering_keys, concurrency_keys);
  end if;
end $$;
