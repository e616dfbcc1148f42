-- Deletes an endpoint. Refused while it has pending deliveries or routes, unless forced. Its row is deleted at once, so that nothing more is
-- published or sent to it; its pending deliveries are cancelled: see cancel_lane.
create or replace function holdfast_internal.delete_endpoint_v2(
  endpoint_name text, force boolean, actor text, out cancelled bigint, out operation_id bigint
)
language plpgsql as $$
declare
  lane integer;
begin
  select id into lane from holdfast_internal.endpoints where name = endpoint_name for update;
  if not found then
    raise exception 'there is no endpoint named "%"', endpoint_name using errcode = 'HF001', hint = 'List them with: holdfast endpoints list';
  end if;
  if not coalesce(force, false) and exists (select from holdfast_internal.routes where lane_id = lane and not is_shorthand) then
    raise exception 'endpoint "%" still has routes', endpoint_name
      using errcode = 'HF006', hint = 'Delete or change its routes first, or delete it with force.';
  end if;
  if not coalesce(force, false) and exists (select from holdfast_internal.deliveries where lane_id = lane) then
    raise exception 'endpoint "%" still has pending deliveries', endpoint_name
      using errcode = 'HF006', hint = 'Wait until they are delivered, or delete it with force, which cancels them.';
  end if;
  select ended.cancelled, ended.operation_id into cancelled, operation_id
  from holdfast_internal.cancel_lane(lane, null, format('Endpoint "%s" was deleted.', endpoint_name), actor) as ended;
  delete from holdfast_internal.routes where lane_id = lane;
  delete from holdfast_internal.breakers where lane_id = lane;
  delete from holdfast_internal.lane_stats where lane_id = lane;
  delete from holdfast_internal.endpoints where id = lane;
  perform holdfast_internal.audit(actor, 'endpoint.deleted', 'endpoint:' || endpoint_name, jsonb_strip_nulls(jsonb_build_object(
    'name', endpoint_name, 'cancelled', cancelled, 'operation', holdfast.format_id('op', operation_id))));
  perform holdfast_internal.tell_nodes('holdfast_lanes', lane::text);
end $$;
