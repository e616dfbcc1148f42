-- Claims the single probe of a circuit; null when it is not due yet, or another node has claimed it.
create or replace function holdfast_internal.start_probe(lane integer, token text, timeout_ms double precision) returns bigint
language sql as $$
  update holdfast_internal.breakers set
    state = 'half_open', version = version + 1, probe_at = null, probe_token = token, changed_xid = pg_current_xact_id(),
    probe_expires_at = clock_timestamp() + make_interval(secs => timeout_ms / 1000)
  where lane_id = lane and (
    (state = 'open' and coalesce(probe_at, '-infinity') <= clock_timestamp())
    or (state = 'half_open' and coalesce(probe_expires_at, '-infinity') <= clock_timestamp())
  )
  returning version
$$;
