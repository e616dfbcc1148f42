-- The counters of the workers of broker mode, and up to when beats were relayed: standing still counts only while that moves on.
create or replace function holdfast_internal.broker_beats(out peers jsonb, out beats_through timestamptz)
language sql stable as $$
  select (
    select coalesce(jsonb_agg(jsonb_build_object('incarnation', incarnation, 'beat', beat, 'leaseMs', lease_ms)), '[]')
    from holdfast_internal.workers where via = 'broker'
  ), (select beats_through from holdfast_internal.broker_state)
$$;
