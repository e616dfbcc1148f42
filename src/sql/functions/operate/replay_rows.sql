-- Creates deliveries for the rows of `source` (see replay_targets), in its order, with new ids. No body is written, except for those whose partition
-- is about to be dropped. Rows whose endpoint was deleted since are skipped. Criticality is at least standard, so that none is dropped without a dead
-- letter. Targets and envelopes are two bounded sets: they are joined by hash, also on a node's connections, where a nested loop would compare each
-- with each.
create or replace function holdfast_internal.replay_rows(
  operation bigint, source text, as_of pg_snapshot, as_of_at timestamptz, after bigint, max_rows integer, max_looked integer,
  out reached bigint, out delivery_ids bigint[]
)
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = on set jit = off as $$
declare
  message_ids bigint[];
  target_lanes integer[];
  target_routes integer[];
  low bigint;
  high bigint;
  stored integer;
begin
  perform holdfast_internal.prepare_ids();
  -- Until this transaction ends no partition can be marked for removal; those that are marked are visible below.
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.retire'));
  -- The transaction id comes before the ids: see accept.
  perform pg_current_xact_id();
  if holdfast_internal.id_at(clock_timestamp()) - (select last_value from holdfast_internal.ids) > 4096 * 5000 then
    perform holdfast_internal.advance_ids();
  end if;
  select next.reached, next.message_ids, next.lanes, next.routes, next.low, next.high into reached, message_ids, target_lanes, target_routes, low, high
  from holdfast_internal.next_replays(source, as_of, as_of_at, after, max_rows, max_looked) as next;
  delivery_ids := '{}';
  if message_ids is null then
    return;
  end if;
  perform holdfast_internal.keep_bodies(message_ids);
  delivery_ids := array(select nextval('holdfast_internal.ids') from generate_series(1, cardinality(message_ids)));
  execute format($statement$
    insert into holdfast_internal.deliveries (id, message_id, lane_id, route_id, size, criticality, replay_id, ordering_key)
    select target.id, target.message_id, target.lane_id, target.route_id, message.size,
           greatest(1, coalesce(
             nullif(message.criticality, 1),
             case when target.route_id is not null then (select route.criticality from holdfast_internal.routes as route where route.id = target.route_id) end,
             known.criticality)),
           target.id, message.ordering_key
    from unnest($4, $1, $5, $6) as target (id, message_id, lane_id, route_id)
    join (%s) as message on message.id = target.message_id
    left join holdfast_internal.event_types as known on known.name = message.type
    order by target.id
  $statement$, holdfast_internal.envelopes_of(message_ids, low, high))
  using message_ids, low, high, delivery_ids, target_lanes, target_routes;
  get diagnostics stored = row_count;
  if stored < cardinality(delivery_ids) then
    delivery_ids := array(select id from holdfast_internal.deliveries where id = any (delivery_ids) order by id);
  end if;
  if stored > 0 then
    insert into holdfast_internal.replays (ids, operation_id) values (holdfast_internal.id_ranges(delivery_ids), operation);
  end if;
  perform holdfast_internal.ring(array(select distinct unnest(target_lanes)));
end $$;
