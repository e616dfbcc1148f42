-- Changes the given settings of an endpoint and keeps the others, as the API does; objects are given in part. A new preset replaces the values of the old
-- one. Secrets stay unchanged, or are removed with their field.
create or replace function holdfast.update_endpoint(name text, changes jsonb, actor text default current_user) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  site jsonb := holdfast_internal.setting_value('defaults');
  before holdfast_internal.endpoints;
  after holdfast_internal.endpoints;
  wanted jsonb;
begin
  select * into before from holdfast_internal.endpoints as endpoint where endpoint.name = update_endpoint.name for update;
  if not found then
    raise exception 'there is no endpoint named "%"', name using errcode = 'HF001', hint = 'List the endpoints with: select endpoint from holdfast.endpoint_health()';
  end if;
  perform holdfast_internal.check_changes(before, changes);
  wanted := holdfast_internal.complete_endpoint(holdfast_internal.merge_endpoint(before, changes, site), site);
  perform holdfast_internal.check_completed(wanted);
  update holdfast_internal.endpoints as endpoint set
    tenant = wanted ->> 'tenant', tags = array(select jsonb_array_elements_text(wanted -> 'tags')), contact = wanted ->> 'contact',
    preset = wanted ->> 'preset', config = wanted -> 'config', settings = wanted -> 'settings', updated_at = clock_timestamp()
  where endpoint.id = before.id returning * into after;
  delete from holdfast_internal.endpoint_secrets as secret
  where secret.lane_id = after.id and not coalesce(holdfast_internal.config_field(after.config, secret.field) @> '{"isSet": true}', false);
  perform holdfast_internal.write_shorthand(after, wanted -> 'eventTypes');
  perform holdfast_internal.audit(actor, 'endpoint.updated', 'endpoint:' || after.name, holdfast_internal.endpoint_changes(before, after));
  perform holdfast_internal.notify('holdfast_lanes', after.id::text);
  return holdfast_internal.endpoint_shown(after);
end $$;
