-- The slow path of accept: options, idempotency keys, and an endpoint that has room for a limited number only (null: for all), whose further messages
-- become dead letters at once. All rows of a table are inserted by one statement.
create or replace function holdfast_internal.accept_with_options(
  lane integer, lane_tenant text, bodies text[], message_options jsonb[], room bigint
) returns setof bigint
language plpgsql as $$
declare
  total integer := cardinality(bodies);
  ids bigint[];
  is_repeated boolean[] := array_fill(false, array[total]);
  is_refused boolean[];
  blocks_keys boolean;
  keys text[];
  given record;
begin
  select array_agg(nextval('holdfast_internal.ids')) into ids from generate_series(1, total);

  keys := array(select option ->> 'idempotencyKey' from unnest(message_options) with ordinality as every (option, at) order by at);
  if array_remove(keys, null) <> '{}' then
    for given in
      select * from holdfast_internal.claim_idempotency_keys(
        array_fill('lane:' || lane, array[total]), keys, array_fill(''::text, array[total]), bodies,
        array(select jsonb_build_array(id) from unnest(ids) with ordinality as every (id, at) order by at)
      )
    loop
      ids[given.at] := given.earlier[1];
      is_repeated[given.at] := true;
    end loop;
  end if;

  -- Repeated messages take no room.
  select array_agg(coalesce(number > room, false) order by at) into is_refused
  from (
    select at, sum((not is_known)::integer) over (order by at) as number
    from unnest(is_repeated) with ordinality as message (is_known, at)
  ) as numbered;

  insert into holdfast_internal.messages (id, size, type, tenant, correlation_id, ordering_key, criticality, headers, metadata, body)
  select message.id, octet_length(body), option ->> 'type', coalesce(option ->> 'tenant', lane_tenant), option ->> 'correlationId',
         option ->> 'orderingKey', coalesce(holdfast_internal.criticality_code(option ->> 'criticality'), 1), option -> 'headers', option -> 'metadata', body::json
  from unnest(ids, bodies, message_options, is_repeated) as message (id, body, option, is_known)
  where not is_known;

  if room is not null then
    blocks_keys := (select settings ->> 'onDead' = 'block' from holdfast_internal.endpoints where id = lane);
    insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, error_code, error, criticality, priority,
                                       attempt, attempts, ordering_key, blocks_key)
    select nextval('holdfast_internal.ids'), message.id, message.id, lane, 'endpoint_full', 3, 'endpoint_full',
           'The endpoint owed as many deliveries as its bound allows.',
           coalesce(holdfast_internal.criticality_code(option ->> 'criticality'), 1), coalesce((option ->> 'priority')::smallint, 0),
           0, '[]', option ->> 'orderingKey', blocks_keys and option ->> 'orderingKey' is not null
    from unnest(ids, message_options, is_repeated, is_refused) as message (id, option, is_known, is_dead)
    where is_dead and not is_known;
  end if;
  insert into holdfast_internal.deliveries (id, message_id, lane_id, size, priority, criticality, due_at, owed_at, expires_at, ordering_key)
  select message.id, message.id, lane, octet_length(body), coalesce((option ->> 'priority')::smallint, 0),
         coalesce(holdfast_internal.criticality_code(option ->> 'criticality'), 1),
         nullif(greatest((option ->> 'deliverAt')::timestamptz, now()), now()),
         greatest((option ->> 'deliverAt')::timestamptz, case when option ->> 'deliverAt' is not null then now() end),
         (option ->> 'expiresAt')::timestamptz, option ->> 'orderingKey'
  from unnest(ids, bodies, message_options, is_repeated, is_refused) as message (id, body, option, is_known, is_dead)
  where not is_known and not is_dead;
  return query select unnest(ids);
end $$;
