-- Deletes a route. Refused while it has pending deliveries, or may have, unless forced; then they are cancelled: see cancel_lane.
create or replace function holdfast_internal.delete_route_v2(
  route_name text, force boolean, actor text, out cancelled bigint, out operation_id bigint
)
language plpgsql as $$
declare
  route holdfast_internal.routes;
  owed record;
begin
  select * into route from holdfast_internal.routes where name = route_name for update;
  if not found then
    raise exception 'there is no route named "%"', route_name using errcode = 'HF005', hint = 'List them with: holdfast routes list';
  end if;
  if not coalesce(force, false) then
    owed := holdfast_internal.owed_along(route);
    if cardinality(owed.ids) > 0 then
      raise exception 'route "%" still has pending deliveries', route_name
        using errcode = 'HF006', hint = 'Disable it and wait until they are delivered, or delete it with force, which cancels them.';
    elsif not owed.is_all then
      raise exception 'route "%" may still have pending deliveries: more than 10,000 wait for its endpoint, too many to examine all of them', route_name
        using errcode = 'HF006', hint = 'Disable it and wait until they are delivered, or delete it with force, which cancels the deliveries of this route.';
    end if;
  end if;
  select ended.cancelled, ended.operation_id into cancelled, operation_id
  from holdfast_internal.cancel_lane(route.lane_id, route.id, format('Route "%s" was deleted.', route_name), actor) as ended;
  delete from holdfast_internal.routes where id = route.id;
  perform holdfast_internal.audit(actor, 'route.deleted', 'route:' || route_name, jsonb_strip_nulls(jsonb_build_object(
    'name', route_name, 'cancelled', cancelled, 'operation', holdfast.format_id('op', operation_id))));
  -- Nodes with deliveries of it in memory read the route again, and find it deleted.
  perform holdfast_internal.tell_nodes('holdfast_routes', route.id::text);
end $$;
