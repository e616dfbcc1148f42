-- Circuit, hold, rejecting and auto-disable: the state of an endpoint that results change.
-- `src/core/breaker.ts` states the same rules; a test keeps the two equal.

create function holdfast.audit(who text, what text, about text, more jsonb default '{}') returns void
language sql as $$ insert into holdfast.audit_log (actor, action, subject, detail) values (who, what, about, more) $$;

-- What differs between two states of one thing, field by field.
create function holdfast.changes(before jsonb, after jsonb) returns jsonb
language sql immutable as $$
  select jsonb_build_object(
    'before', coalesce((select jsonb_object_agg(key, value) from jsonb_each(before) where value is distinct from after -> key), '{}'),
    'after', coalesce((select jsonb_object_agg(key, value) from jsonb_each(after) where value is distinct from before -> key), '{}')
  )
$$;

-- What the audit log calls an endpoint.
create function holdfast.subject_of(lane integer) returns text
language sql stable as $$ select coalesce((select 'endpoint:' || name from holdfast.endpoints where id = lane), 'lane:' || lane) $$;

-- What a person has set of an endpoint. Somebody's own headers may hold what is nobody else's business.
create function holdfast.endpoint_view(endpoint holdfast.endpoints) returns jsonb
language sql stable as $$
  select to_jsonb(endpoint) - '{id,created_at,updated_at,changed_xid,state,state_reason,state_changed_at,reenable_at,pauses}'::text[]
    || jsonb_build_object('config', case when jsonb_typeof(endpoint.config -> 'headers') = 'object'
         then endpoint.config || jsonb_build_object('headers',
           (select coalesce(jsonb_object_agg(key, '[redacted]'), '{}') from jsonb_each(endpoint.config -> 'headers')))
         else endpoint.config end)
$$;

-- Records an ordered run of results of one lane.
-- `circuit`: threshold, cooldownMs. `run`: version, leading, longest, trailing (health failures), hasSuccess, holdMs, probe {token,
-- succeeded}. `health`: permanents, streak, streakAgeMs: absolute, because only the lane's owner counts these.
-- `suspension`: state, reason, reenableAfterMs, or null. Returns whether something changed that every node must know.
create function holdfast.record_run(lane integer, circuit jsonb, run jsonb, health jsonb, suspension jsonb, actor text) returns boolean
language plpgsql as $$
declare
  breaker holdfast.breakers;
  before text;
  threshold integer := (circuit ->> 'threshold')::integer;
  cooldown interval := make_interval(secs => (circuit ->> 'cooldownMs')::double precision / 1000);
  is_changed boolean := false;
begin
  insert into holdfast.breakers (lane_id) values (lane) on conflict do nothing;
  select * into breaker from holdfast.breakers where lane_id = lane for update;
  before := breaker.state;

  if jsonb_typeof(run -> 'probe') = 'object' then
    if breaker.state = 'half_open' and breaker.probe_token = run #>> '{probe,token}' then
      if (run #>> '{probe,succeeded}')::boolean then
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
  elsif breaker.state = 'closed' and breaker.version = (run ->> 'version')::bigint then
    if greatest(breaker.failures + (run ->> 'leading')::integer, (run ->> 'longest')::integer) >= threshold then
      breaker.state := 'open';
      breaker.failures := threshold;
      breaker.opened_at := clock_timestamp();
      breaker.probe_at := clock_timestamp() + cooldown;
      breaker.version := breaker.version + 1;
      is_changed := true;
    else
      breaker.failures := (run ->> 'trailing')::integer
        + case when (run ->> 'hasSuccess')::boolean then 0 else breaker.failures end;
    end if;
  end if;

  if coalesce((run ->> 'holdMs')::double precision, 0) > 0 then
    breaker.held_until := greatest(breaker.held_until, clock_timestamp() + make_interval(secs => (run ->> 'holdMs')::double precision / 1000));
    is_changed := true;
  end if;
  if jsonb_typeof(health) = 'object' then
    breaker.permanents := array(select jsonb_array_elements_text(health -> 'permanents')::bigint);
    breaker.streak := (health ->> 'streak')::integer;
    breaker.streak_started_at := clock_timestamp() - make_interval(secs => (health ->> 'streakAgeMs')::double precision / 1000);
  end if;
  if jsonb_typeof(suspension) = 'object' then
    is_changed := holdfast.suspend_endpoint(
      lane, suspension ->> 'state', suspension ->> 'reason', (suspension ->> 'reenableAfterMs')::double precision, actor
    ) or is_changed;
  end if;

  update holdfast.breakers as stored set
    version = breaker.version, state = breaker.state, failures = breaker.failures, permanents = breaker.permanents,
    streak = breaker.streak, streak_started_at = breaker.streak_started_at, opened_at = breaker.opened_at,
    probe_at = breaker.probe_at, probe_token = breaker.probe_token, probe_expires_at = breaker.probe_expires_at,
    held_until = breaker.held_until,
    -- Counting failures leaves the indexed column alone, so that the update stays HOT.
    changed_xid = case when is_changed then pg_current_xact_id() else stored.changed_xid end
  where lane_id = lane;
  if before <> breaker.state then
    perform holdfast.audit(actor, 'circuit.' || breaker.state, holdfast.subject_of(lane),
                           jsonb_build_object('from', before, 'version', breaker.version));
  end if;
  return is_changed;
end $$;

-- Takes an active endpoint out of service; its deliveries are kept and wait.
create function holdfast.suspend_endpoint(lane integer, new_state text, why text, reenable_ms double precision, actor text)
returns boolean
language plpgsql as $$
begin
  update holdfast.endpoints set
    state = new_state, state_reason = why, state_changed_at = clock_timestamp(), changed_xid = pg_current_xact_id(),
    reenable_at = clock_timestamp() + make_interval(secs => reenable_ms / 1000),
    pauses = holdfast.open_pause(pauses)
  where id = lane and state = 'active';
  if not found then
    return false;
  end if;
  perform holdfast.audit(actor, 'endpoint.' || new_state, holdfast.subject_of(lane), jsonb_build_object('reason', why));
  return true;
end $$;

-- Pauses stop the give-up clock; the last hundred are remembered as [from, to] in epoch milliseconds, the open one with null.
create function holdfast.open_pause(pauses jsonb) returns jsonb
language sql volatile
return (
  case when pauses -> -1 -> 1 = 'null' then pauses
  else (case when jsonb_typeof(pauses) <> 'array' then '[]' when jsonb_array_length(pauses) >= 100 then pauses - 0 else pauses end)
    || jsonb_build_array(jsonb_build_array(floor(extract(epoch from clock_timestamp()) * 1000), null)) end
);

create function holdfast.close_pause(pauses jsonb) returns jsonb
language sql volatile
return (
  case when pauses -> -1 -> 1 = 'null'
  then jsonb_set(pauses, '{-1,1}', to_jsonb(floor(extract(epoch from clock_timestamp()) * 1000)))
  else pauses end
);

-- Pause, resume, enable and disable, by name. Returns the state afterwards.
create function holdfast.set_endpoint_state(endpoint_name text, new_state text, why text default null, actor text default current_user)
returns text
language plpgsql as $$
declare
  endpoint holdfast.endpoints;
begin
  if new_state not in ('active', 'paused', 'disabled') then
    raise exception 'an endpoint can be made active, paused or disabled, not %', new_state using errcode = '22023';
  end if;
  select * into endpoint from holdfast.endpoints where name = endpoint_name for update;
  if not found then
    raise exception 'there is no endpoint named "%"', endpoint_name using errcode = 'HF001';
  end if;
  if endpoint.state = new_state then
    return new_state;
  end if;
  update holdfast.endpoints set
    state = new_state, state_reason = why, state_changed_at = clock_timestamp(), reenable_at = null,
    changed_xid = pg_current_xact_id(), updated_at = clock_timestamp(),
    pauses = case when new_state = 'active' then holdfast.close_pause(pauses) else holdfast.open_pause(pauses) end
  where id = endpoint.id;
  if new_state = 'active' then
    update holdfast.breakers set permanents = '{}', streak = 0, streak_started_at = null, changed_xid = pg_current_xact_id()
    where lane_id = endpoint.id;
  end if;
  perform holdfast.audit(actor, 'endpoint.' || new_state, 'endpoint:' || endpoint_name,
                         jsonb_build_object('from', endpoint.state, 'reason', why, 'name', endpoint_name));
  perform pg_notify('holdfast_lanes', endpoint.id::text);
  return new_state;
end $$;

create function holdfast.reenable_endpoints(actor text) returns setof text
language sql as $$
  select name from (
    select name, holdfast.set_endpoint_state(name, 'active', 're-enabled after its cooldown', actor)
    from holdfast.endpoints where reenable_at <= now() and state = 'disabled'
  ) as reenabled
$$;

-- The right to send the one probe; null when it isn't time, or somebody else has it.
create function holdfast.start_probe(lane integer, token text, timeout_ms double precision) returns bigint
language sql as $$
  update holdfast.breakers set
    state = 'half_open', version = version + 1, probe_at = null, probe_token = token, changed_xid = pg_current_xact_id(),
    probe_expires_at = clock_timestamp() + make_interval(secs => timeout_ms / 1000)
  where lane_id = lane and (
    (state = 'open' and coalesce(probe_at, '-infinity') <= clock_timestamp())
    or (state = 'half_open' and coalesce(probe_expires_at, '-infinity') <= clock_timestamp())
  )
  returning version
$$;

-- A probe that was granted and never sent: the next one needn't wait for its token to expire.
create function holdfast.abandon_probe(lane integer, token text) returns void
language sql as $$
  update holdfast.breakers set
    state = 'open', version = version + 1, probe_at = clock_timestamp(), probe_token = null, probe_expires_at = null,
    changed_xid = pg_current_xact_id()
  where lane_id = lane and state = 'half_open' and probe_token = token
$$;

create function holdfast.reset_circuit_breaker(name text, actor text default current_user) returns boolean
language plpgsql as $$
declare
  lane integer := (select endpoint.id from holdfast.endpoints as endpoint where endpoint.name = reset_circuit_breaker.name);
begin
  if lane is null then
    raise exception 'there is no endpoint named "%"', name using errcode = 'HF001';
  end if;
  insert into holdfast.breakers (lane_id) values (lane) on conflict do nothing;
  update holdfast.breakers set
    state = 'closed', version = version + 1, failures = 0, opened_at = null, probe_at = null, probe_token = null,
    probe_expires_at = null, held_until = null, changed_xid = pg_current_xact_id()
  where lane_id = lane;
  perform holdfast.audit(actor, 'circuit.reset', holdfast.subject_of(lane), jsonb_build_object('name', name));
  perform pg_notify('holdfast_lanes', lane::text);
  return true;
end $$;
