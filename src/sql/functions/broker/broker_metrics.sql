-- The gauges of broker mode; none where no live node uses a broker. Depths are those of the broker's queues as any node saw them last.
create or replace function holdfast_internal.broker_metrics() returns table (metric text, labels jsonb, value double precision)
language sql stable as $$
  with seen as (
    select count(*) filter (where said.report ->> 'state' <> 'disconnected')::double precision as connections,
           count(*) filter (where said.report ->> 'state' = 'blocked')::double precision as blocked,
           -- Messages that a node has received and not settled are no longer ready in the queue, but still wait.
           max((said.report ->> 'deadLetterDepth')::double precision) + sum(coalesce((said.report ->> 'deadLettersHeld')::double precision, 0)) as dead_letters,
           max((said.report ->> 'resultsDepth')::double precision) as results, count(*) as nodes
    from holdfast_internal.live_broker_reports() as said
  )
  select gauge.metric, '{}'::jsonb, gauge.value from seen
  cross join lateral (
    values ('broker_connections', seen.connections), ('broker_blocked', seen.blocked), ('broker_dead_letter_depth', seen.dead_letters),
           ('broker_results_depth', seen.results),
           ('broker_unstarted_runs', (select coalesce(sum(holdfast_internal.claim_size(run_ids, bundled)), 0) from holdfast_internal.run_claims where worker = 0)::double precision),
           ('broker_rejects', (select count(*) from (select from holdfast_internal.broker_rejects limit 10000) as found)::double precision)
  ) as gauge (metric, value)
  where seen.nodes > 0
$$;
