-- The heartbeat counters of workers in broker mode, and the time up to which heartbeats were relayed: a counter that stands still counts only while
-- that time advances.
create or replace function holdfast_internal.broker_beats(out peers jsonb, out beats_through timestamptz)
language sql stable as $$
  select (
    select coalesce(jsonb_agg(jsonb_build_object('incarnation', incarnation, 'beat', beat, 'leaseMs', lease_ms)), '[]')
    from holdfast_internal.workers where via = 'broker'
  ), (select beats_through from holdfast_internal.broker_state)
$$;
