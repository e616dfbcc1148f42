-- Secrets of endpoints, encrypted before they get here: the database never sees one. `endpoints.config` has a mark in each
-- one's place. A secret that was replaced stays beside its successor until it expires, so that receivers can change over.

create table holdfast.endpoint_secrets (
  lane_id integer not null references holdfast.endpoints (id) on delete cascade,
  -- Where in the config it belongs: `signing.secret`. With lane_id it is authenticated: sealed bytes open at their own place only.
  field text not null,
  -- The highest is the present one.
  version integer not null,
  key_id text not null,
  sealed bytea not null,
  set_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  primary key (lane_id, field, version)
);
create index endpoint_secrets_key on holdfast.endpoint_secrets (key_id, lane_id, field, version);
create index endpoint_secrets_expiry on holdfast.endpoint_secrets (expires_at) where expires_at is not null;

-- Makes these the endpoint's secrets: `kept` stay as they are, `fields` are replaced at once, any others go.
create function holdfast.store_secrets(lane integer, kept text[], fields text[], key_ids text[], sealed_values bytea[]) returns void
language plpgsql as $$
begin
  delete from holdfast.endpoint_secrets where lane_id = lane and field <> all (kept || fields);
  with replaced as (
    delete from holdfast.endpoint_secrets where lane_id = lane and field = any (fields) returning field, version
  )
  insert into holdfast.endpoint_secrets (lane_id, field, version, key_id, sealed)
  select lane, given.field, 1 + coalesce((select max(version) from replaced where replaced.field = given.field), 0), given.key_id, given.sealed
  from unnest(fields, key_ids, sealed_values) as given (field, key_id, sealed);
end $$;

-- A new secret beside the present one, which is used for `overlap_ms` more. Returns when that ends; null without an overlap.
create function holdfast.rotate_secret(
  lane integer, secret_field text, new_key_id text, new_sealed bytea, overlap_ms bigint, actor text
) returns timestamptz
language plpgsql as $$
declare
  ends_at timestamptz := clock_timestamp() + overlap_ms * interval '1 millisecond';
  latest integer;
begin
  -- Two rotations at once come one after the other. The change also tells the nodes.
  update holdfast.endpoints set updated_at = clock_timestamp() where id = lane;
  select max(version) into latest from holdfast.endpoint_secrets where lane_id = lane and field = secret_field;
  if latest is null then
    raise exception 'The endpoint has no secret to rotate' using errcode = 'HF001', hint = 'Set one first.';
  end if;
  update holdfast.endpoint_secrets set expires_at = ends_at where lane_id = lane and field = secret_field and expires_at is null;
  -- At most four older ones: each costs a signature in every request.
  delete from holdfast.endpoint_secrets
  where lane_id = lane and field = secret_field and (overlap_ms = 0 or version <= latest - 4 or expires_at <= clock_timestamp());
  insert into holdfast.endpoint_secrets (lane_id, field, version, key_id, sealed)
  values (lane, secret_field, latest + 1, new_key_id, new_sealed);
  perform holdfast.audit(actor, 'endpoint.secret_rotated', holdfast.subject_of(lane),
    jsonb_build_object('field', secret_field, 'overlapMs', overlap_ms));
  perform pg_notify('holdfast_lanes', lane::text);
  return case when overlap_ms = 0 then null else ends_at end;
end $$;

create function holdfast.delete_expired_secrets() returns integer
language plpgsql as $$
declare
  deleted integer;
begin
  delete from holdfast.endpoint_secrets where expires_at <= clock_timestamp();
  get diagnostics deleted = row_count;
  return deleted;
end $$;
