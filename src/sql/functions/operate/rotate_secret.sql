-- Adds a new secret beside the current one, which stays valid for `overlap_ms`. Returns when that ends; null without an overlap.
create or replace function holdfast_internal.rotate_secret(
  lane integer, secret_field text, new_key_id text, new_sealed bytea, overlap_ms bigint, actor text
) returns timestamptz
language plpgsql as $$
declare
  ends_at timestamptz := clock_timestamp() + overlap_ms * interval '1 millisecond';
  latest integer;
begin
  -- Concurrent rotations run one after the other. The change also notifies the nodes.
  update holdfast_internal.endpoints set updated_at = clock_timestamp() where id = lane;
  select max(version) into latest from holdfast_internal.endpoint_secrets where lane_id = lane and field = secret_field;
  if latest is null then
    raise exception 'the endpoint has no secret to rotate' using errcode = 'HF001', hint = 'Set one first.';
  end if;
  update holdfast_internal.endpoint_secrets set expires_at = ends_at where lane_id = lane and field = secret_field and expires_at is null;
  -- At most four older ones: each costs a signature in every request.
  delete from holdfast_internal.endpoint_secrets
  where lane_id = lane and field = secret_field and (overlap_ms = 0 or version <= latest - 4 or expires_at <= clock_timestamp());
  insert into holdfast_internal.endpoint_secrets (lane_id, field, version, key_id, sealed)
  values (lane, secret_field, latest + 1, new_key_id, new_sealed);
  perform holdfast_internal.audit(actor, 'endpoint.secret_rotated', holdfast_internal.subject_of(lane),
    jsonb_build_object('field', secret_field, 'overlapMs', overlap_ms));
  perform holdfast_internal.notify('holdfast_lanes', lane::text);
  return case when overlap_ms = 0 then null else ends_at end;
end $$;
