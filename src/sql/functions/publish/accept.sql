-- Every message to one endpoint is stored through this function. `message_options` is null or has one entry (or null) per body.
-- A message to one endpoint and its delivery have the same id; the ids that users see differ by prefix.
-- `publisher`: the node of the publisher's own process, if it has one. If that node owns the endpoint's lane, no notification is sent: the process
-- passes the message on in memory, and its node may start it right after the commit (`is_publishers`).
-- No plan that a publisher caches may scan a whole table, hence the settings (and no JIT, which the estimated cost of a disabled scan would trigger):
-- they cost a microsecond a call.
-- The search path is that of its callers: with another one, a session that calls it both directly and through them would plan its statements again
-- each time. It is not granted to roles that only publish: they could claim to be a node, and its owner would not be notified.
-- Everything it needs is read in one statement: on an idle machine each statement costs a single message 20 to 40 µs, however little it does.
create or replace function holdfast_internal.accept(
  endpoint_name text, bodies text[], message_options jsonb[], publisher integer,
  out ids bigint[], out lane integer, out is_publishers boolean
)
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  total integer := coalesce(cardinality(bodies), 0);
  facts record;
  worst record;
  room bigint;
  own_transaction xid8;
begin
  select endpoint.id, endpoint.tenant, endpoint.settings -> 'limits' ->> 'onFull' as on_full,
         (endpoint.settings -> 'limits' ->> 'maxPending')::bigint as bound, coalesce(stats.pending, 0) as owed,
         (select value::text::bigint from holdfast_internal.settings where name = 'max_payload_bytes') as max_bytes,
         (select value::text::bigint from holdfast_internal.settings where name = 'max_pending') as global_bound,
         (select sum(pending) from holdfast_internal.nodes where beat_at > clock_timestamp() - interval '10 seconds') as owed_by_nodes,
         life.last_value <> holdfast_internal.current_life() or holdfast_internal.id_at(clock_timestamp()) - sequence.last_value > 4096 * 5000 as are_ids_behind,
         lease.incarnation as owner
  into facts
  from holdfast_internal.endpoints as endpoint cross join holdfast_internal.ids as sequence cross join holdfast_internal.server_life as life
  left join holdfast_internal.lane_stats as stats on stats.lane_id = endpoint.id
  left join holdfast_internal.shard_leases as lease on lease.shard = endpoint.id & 255
  where endpoint.name = endpoint_name;
  if not found then
    raise exception 'there is no endpoint named "%"', endpoint_name using errcode = 'HF001',
      hint = 'Create it first, for instance with: holdfast endpoints create ' || coalesce(endpoint_name, '<name>') || ' --url https://…';
  end if;
  lane := facts.id;
  is_publishers := false;
  if total = 0 then
    return;
  end if;
  if message_options is not null then
    if cardinality(message_options) <> total then
      raise exception 'there are % bodies but % sets of options', total, cardinality(message_options) using errcode = 'HF002';
    end if;
    perform holdfast_internal.check_message_options(message_options);
  end if;
  -- If all bodies together are within the limit of one, they needn't be checked one by one.
  if pg_column_size(bodies) > facts.max_bytes then
    select octet_length(body) as bytes, at into worst
    from unnest(bodies) with ordinality as given (body, at) where octet_length(body) > facts.max_bytes limit 1;
    if found then
      raise exception 'the payload of message % takes % bytes; the limit is %', worst.at, worst.bytes, facts.max_bytes
        using errcode = 'HF003', hint = 'Send a reference to the data instead of the data, or raise max_payload_bytes.';
    end if;
  end if;
  if facts.global_bound > 0 and (facts.owed_by_nodes is null or facts.owed_by_nodes + total > facts.global_bound) then
    perform holdfast_internal.check_bound(total);
  end if;
  if facts.owed + total > facts.bound then
    if facts.on_full = 'reject' then
      raise exception 'endpoint "%" is full: % deliveries are pending, its limit is %', endpoint_name, facts.owed, facts.bound
        using errcode = '53400', hint = 'Publish again later, raise limits.maxPending, or set limits.onFull to dead_letter.';
    end if;
    -- Messages that fit within the limit become deliveries; the rest become dead letters at once.
    room := greatest(0, facts.bound - facts.owed);
  end if;

  -- The transaction id comes before the ids: a reader whose snapshot was taken before it knows that these ids lie beyond
  -- everything it has seen.
  own_transaction := pg_current_xact_id();
  perform holdfast_internal.commit_durably();
  if facts.are_ids_behind then
    perform holdfast_internal.advance_ids();
  end if;

  if message_options is null and room is null then
    with given as (
      select nextval('holdfast_internal.ids') as id, body, octet_length(body) as size from unnest(bodies) as body
    ), stored as (
      insert into holdfast_internal.messages (id, size, tenant, body)
      select given.id, given.size, facts.tenant, given.body::json from given
    ), owed as (
      insert into holdfast_internal.deliveries (id, message_id, lane_id, size)
      select given.id, given.id, lane, given.size from given
      returning deliveries.id
    )
    select array_agg(owed.id) into ids from owed;
    is_publishers := coalesce(facts.owner = publisher, false);
  else
    select array_agg(id) into ids
    from holdfast_internal.accept_with_options(lane, facts.tenant, bodies, message_options, room) as id;
  end if;
  if not is_publishers then
    perform holdfast_internal.ring(array[lane]);
  end if;
end $$;
