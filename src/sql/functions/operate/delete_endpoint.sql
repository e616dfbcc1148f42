create or replace function holdfast_internal.delete_endpoint(endpoint_name text, force boolean default false, actor text default current_user) returns bigint
language plpgsql as $$
declare
  lane integer;
  cancelled bigint := 0;
begin
  select id into lane from holdfast_internal.endpoints where name = endpoint_name for update;
  if not found then
    raise exception 'there is no endpoint named "%"', endpoint_name using errcode = 'HF001';
  end if;
  if not force and exists (select from holdfast_internal.routes where lane_id = lane and not is_shorthand) then
    raise exception 'routes still lead to endpoint "%"', endpoint_name
      using errcode = 'HF006', hint = 'Delete or redirect its routes first, or delete it with force.';
  end if;
  if exists (select from holdfast_internal.deliveries where lane_id = lane) then
    if not force then
      raise exception 'endpoint "%" still owes deliveries', endpoint_name
        using errcode = 'HF006', hint = 'Let them drain, or delete it with force: then they end as cancelled.';
    end if;
    cancelled := holdfast_internal.cancel_deliveries(lane, null, format('Endpoint "%s" was deleted.', endpoint_name));
  end if;
  delete from holdfast_internal.routes where lane_id = lane;
  delete from holdfast_internal.breakers where lane_id = lane;
  delete from holdfast_internal.lane_stats where lane_id = lane;
  delete from holdfast_internal.endpoints where id = lane;
  perform holdfast_internal.audit(actor, 'endpoint.deleted', 'endpoint:' || endpoint_name, jsonb_build_object('name', endpoint_name, 'cancelled', cancelled));
  perform holdfast_internal.tell_nodes('holdfast_lanes', lane::text);
  return cancelled;
end $$;
