-- Deletes a route. Refused while deliveries are owed along it, unless forced; then they end as cancelled: see cancel_lane.
create or replace function holdfast_internal.delete_route_v2(
  route_name text, force boolean, actor text, out cancelled bigint, out operation_id bigint
)
language plpgsql as $$
declare
  route holdfast_internal.routes;
begin
  select * into route from holdfast_internal.routes where name = route_name for update;
  if not found then
    raise exception 'there is no route named "%"', route_name using errcode = 'HF005';
  end if;
  if not force and exists (select from holdfast_internal.deliveries where route_id = route.id) then
    raise exception 'route "%" still owes deliveries', route_name
      using errcode = 'HF006', hint = 'Disable it and let them drain, or delete it with force: then they end as cancelled.';
  end if;
  delete from holdfast_internal.routes where id = route.id;
  select ended.cancelled, ended.operation_id into cancelled, operation_id
  from holdfast_internal.cancel_lane(route.lane_id, route.id, format('Route "%s" was deleted.', route_name), actor) as ended;
  perform holdfast_internal.audit(actor, 'route.deleted', 'route:' || route_name, jsonb_strip_nulls(jsonb_build_object(
    'name', route_name, 'cancelled', cancelled, 'operation', holdfast.format_id('op', operation_id))));
  -- Nodes that hold deliveries of it in memory look again, and find that it is gone.
  perform holdfast_internal.tell_nodes('holdfast_routes', route.id::text);
end $$;
