-- Gives back a probe that was granted but never sent, so that the next one needn't wait until its token expires.
create or replace function holdfast_internal.abandon_probe(lane integer, token text) returns void
language sql as $$
  update holdfast_internal.breakers set
    state = 'open', version = version + 1, probe_at = clock_timestamp(), probe_token = null, probe_expires_at = null,
    changed_xid = pg_current_xact_id()
  where lane_id = lane and state = 'half_open' and probe_token = token
$$;
