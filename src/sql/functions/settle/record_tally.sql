-- Records the tally of one lane's results, in order.
-- `circuit`: threshold, cooldownMs. `tally`: version, leading, longest, trailing (health failures), hasSuccess, holdMs, probe {token,
-- succeeded}. `health`: permanents, streak, streakAgeMs: absolute, because only the lane's owner counts these.
-- `suspension`: state, reason, reenableAfterMs, or null. Returns whether something changed that every node must apply.
create or replace function holdfast_internal.record_tally(lane integer, circuit jsonb, tally jsonb, health jsonb, suspension jsonb, actor text) returns boolean
language plpgsql as $$
declare
  breaker holdfast_internal.breakers;
  before text;
  threshold integer := (circuit ->> 'threshold')::integer;
  cooldown interval := make_interval(secs => (circuit ->> 'cooldownMs')::double precision / 1000);
  is_changed boolean := false;
begin
  insert into holdfast_internal.breakers (lane_id) values (lane) on conflict do nothing;
  select * into breaker from holdfast_internal.breakers where lane_id = lane for update;
  before := breaker.state;

  if jsonb_typeof(tally -> 'probe') = 'object' then
    if breaker.state = 'half_open' and breaker.probe_token = tally #>> '{probe,token}' then
      if (tally #>> '{probe,succeeded}')::boolean then
        breaker.state := 'closed';
        breaker.failures := 0;
        breaker.opened_at := null;
        breaker.probe_at := null;
      else
        breaker.state := 'open';
        breaker.failures := breaker.failures + 1;
        breaker.probe_at := clock_timestamp() + cooldown;
      end if;
      breaker.probe_token := null;
      breaker.probe_expires_at := null;
      breaker.version := breaker.version + 1;
      is_changed := true;
    end if;
  elsif breaker.state = 'closed' and breaker.version = (tally ->> 'version')::bigint then
    if greatest(breaker.failures + (tally ->> 'leading')::integer, (tally ->> 'longest')::integer) >= threshold then
      breaker.state := 'open';
      breaker.failures := threshold;
      breaker.opened_at := clock_timestamp();
      breaker.probe_at := clock_timestamp() + cooldown;
      breaker.version := breaker.version + 1;
      is_changed := true;
    else
      breaker.failures := (tally ->> 'trailing')::integer
        + case when (tally ->> 'hasSuccess')::boolean then 0 else breaker.failures end;
    end if;
  end if;

  if coalesce((tally ->> 'holdMs')::double precision, 0) > 0 then
    breaker.held_until := greatest(breaker.held_until, clock_timestamp() + make_interval(secs => (tally ->> 'holdMs')::double precision / 1000));
    is_changed := true;
  end if;
  if jsonb_typeof(health) = 'object' then
    breaker.permanents := array(select jsonb_array_elements_text(health -> 'permanents')::bigint);
    breaker.streak := (health ->> 'streak')::integer;
    breaker.streak_started_at := clock_timestamp() - make_interval(secs => (health ->> 'streakAgeMs')::double precision / 1000);
  end if;
  if jsonb_typeof(suspension) = 'object' then
    is_changed := holdfast_internal.suspend_endpoint(
      lane, suspension ->> 'state', suspension ->> 'reason', (suspension ->> 'reenableAfterMs')::double precision, actor
    ) or is_changed;
  end if;

  update holdfast_internal.breakers as stored set
    version = breaker.version, state = breaker.state, failures = breaker.failures, permanents = breaker.permanents,
    streak = breaker.streak, streak_started_at = breaker.streak_started_at, opened_at = breaker.opened_at,
    probe_at = breaker.probe_at, probe_token = breaker.probe_token, probe_expires_at = breaker.probe_expires_at,
    held_until = breaker.held_until,
    -- Counting failures leaves the indexed column alone, so that the update stays HOT.
    changed_xid = case when is_changed then pg_current_xact_id() else stored.changed_xid end
  where lane_id = lane;
  if before <> breaker.state then
    perform holdfast_internal.note_circuit_change(lane, before, breaker.state, breaker.version, actor);
  end if;
  return is_changed;
end $$;
