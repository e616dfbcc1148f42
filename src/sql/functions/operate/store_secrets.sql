-- Makes these the endpoint's secrets: `kept` stay unchanged, `fields` are replaced at once, any others are deleted.
create or replace function holdfast_internal.store_secrets(lane integer, kept text[], fields text[], key_ids text[], sealed_values bytea[]) returns void
language plpgsql as $$
begin
  delete from holdfast_internal.endpoint_secrets where lane_id = lane and field <> all (kept || fields);
  with replaced as (
    delete from holdfast_internal.endpoint_secrets where lane_id = lane and field = any (fields) returning field, version
  )
  insert into holdfast_internal.endpoint_secrets (lane_id, field, version, key_id, sealed)
  select lane, given.field, 1 + coalesce((select max(version) from replaced where replaced.field = given.field), 0), given.key_id, given.sealed
  from unnest(fields, key_ids, sealed_values) as given (field, key_id, sealed);
end $$;
