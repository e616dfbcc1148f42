-- The reports of live nodes about the broker: at most one row a node.
create or replace function holdfast_internal.live_broker_reports() returns table (incarnation bigint, node text, report jsonb, reported_at timestamptz)
language sql stable as $$
  select known.incarnation, known.node, known.report, known.reported_at
  from holdfast_internal.broker_reports as known join holdfast_internal.nodes as alive on alive.incarnation = known.incarnation
  where alive.beat_at > clock_timestamp() - interval '10 seconds' and known.reported_at > clock_timestamp() - interval '30 seconds'
$$;
