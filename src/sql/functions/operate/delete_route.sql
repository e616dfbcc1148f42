create or replace function holdfast_internal.delete_route(route_name text, force boolean default false, actor text default current_user) returns bigint
language plpgsql as $$
declare
  route holdfast_internal.routes;
  cancelled bigint := 0;
begin
  select * into route from holdfast_internal.routes where name = route_name for update;
  if not found then
    raise exception 'there is no route named "%"', route_name using errcode = 'HF005';
  end if;
  if exists (select from holdfast_internal.deliveries where route_id = route.id) then
    if not force then
      raise exception 'route "%" still owes deliveries', route_name
        using errcode = 'HF006', hint = 'Disable it and let them drain, or delete it with force: then they end as cancelled.';
    end if;
    cancelled := holdfast_internal.cancel_deliveries(route.lane_id, route.id, format('Route "%s" was deleted.', route_name));
  end if;
  delete from holdfast_internal.routes where id = route.id;
  perform holdfast_internal.audit(actor, 'route.deleted', 'route:' || route_name, jsonb_build_object('name', route_name, 'cancelled', cancelled));
  -- Nodes that hold deliveries of it in memory look again, and find that it is gone.
  perform holdfast_internal.tell_nodes('holdfast_routes', route.id::text);
  return cancelled;
end $$;
