-- Cancels the pending deliveries of a deleted endpoint, or of a route that is about to be deleted: a few at once, many in the background as an
-- operation, which is then returned. A delivery in flight may still succeed, and is recorded as such. Indexes: deliveries_ready;
-- for a route see owed_along.
create or replace function holdfast_internal.cancel_lane(
  lane integer, only_route integer, why text, actor text, out cancelled bigint, out operation_id bigint
)
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  -- Each cancellation writes two tables and a dozen index entries, which may have to be read from disk.
  max_at_once constant integer := 100;
  target jsonb := case when only_route is null then jsonb_build_object('laneId', lane) else jsonb_build_object('routeId', only_route) end;
  ids bigint[];
  is_all boolean := true;
begin
  if only_route is null then
    ids := array(
      select id from holdfast_internal.deliveries where lane_id = lane order by priority, id limit max_at_once + 1
    );
  else
    select owed.ids, owed.is_all into ids, is_all
    from holdfast_internal.routes as route cross join lateral holdfast_internal.owed_along(route) as owed where route.id = only_route;
  end if;
  if is_all and cardinality(ids) <= max_at_once then
    cancelled := case when cardinality(ids) = 0 then 0 else holdfast_internal.cancel_owed(ids, why) end;
    return;
  end if;
  cancelled := 0;
  perform holdfast_internal.prepare_ids();
  -- From the beginning: deliveries that were committed late may have ids that it has passed.
  update holdfast_internal.operations set cursor = 0 where state in ('running', 'paused') and filter = target returning id into operation_id;
  if found then
    return;
  end if;
  insert into holdfast_internal.operations (kind, filter, options, as_of, as_of_at, total, is_total_exact, created_by)
  values ('cancel', target, jsonb_build_object('note', why), pg_current_snapshot(), clock_timestamp(),
          -- The owner's last report. The last step stores the exact number.
          greatest(cardinality(ids), (select pending from holdfast_internal.lane_stats where lane_id = lane and only_route is null)), false, actor)
  returning id into operation_id;
  perform holdfast_internal.audit(actor, 'operation.created', holdfast.format_id('op', operation_id), jsonb_build_object('kind', 'cancel', 'filter', target));
  perform holdfast_internal.notify('holdfast_operations', '');
end $$;
