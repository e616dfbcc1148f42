-- The ways in. Everything here may run inside the caller's own transaction.

-- In PL/pgSQL, as whatever a publish asks: before PostgreSQL 18 an SQL function that looks into a table is planned at every call.
create function holdfast.setting_integer(setting text) returns bigint
language plpgsql stable parallel safe as $$
begin
  return (select value::text::bigint from holdfast.settings where name = setting);
end $$;

create function holdfast.criticality_code(word text) returns smallint
language sql immutable parallel safe
return case word when 'best_effort' then 0 when 'standard' then 1 when 'critical' then 2 end;

-- What is wrong with the options of a message, or null. A null inside counts as absent. The same rules as in src/core/send-options.ts.
create function holdfast.option_problem(options jsonb) returns text
language plpgsql stable as $$
declare
  known constant text[] := array['type', 'tenant', 'idempotencyKey', 'orderingKey', 'priority', 'deliverAt', 'expiresAt', 'criticality',
                                 'correlationId', 'headers', 'metadata'];
  named text;
begin
  if jsonb_typeof(options) <> 'object' then
    return 'options must be a JSON object, not ' || jsonb_typeof(options);
  end if;
  -- No queries where an expression will do: this runs for every message.
  if options - known <> '{}' then
    select string_agg(name, ', ') into named from jsonb_object_keys(options - known) as name;
    return format('unknown option: %s (known are %s)', named, array_to_string(known, ', '));
  end if;
  if options ->> 'priority' !~ '^[0-3]$' then
    return 'priority must be 0, 1, 2 or 3, not ' || (options ->> 'priority');
  end if;
  if options ->> 'criticality' is not null and holdfast.criticality_code(options ->> 'criticality') is null then
    return 'criticality must be best_effort, standard or critical, not ' || (options ->> 'criticality');
  end if;
  foreach named in array array['type', 'tenant', 'idempotencyKey', 'orderingKey', 'correlationId'] loop
    if jsonb_typeof(options -> named) not in ('string', 'null') or length(options ->> named) not between 1 and 255 then
      return named || ' must be text of 1 to 255 characters';
    end if;
  end loop;
  if options ->> 'type' ~ '[\s*]' then
    return format('type must be an event type without spaces or "*", such as order.created, not "%s"', options ->> 'type');
  end if;
  if jsonb_typeof(options -> 'metadata') not in ('object', 'null') then
    return 'metadata must be a JSON object';
  end if;
  if octet_length(options::text) > 32768 then
    return format('the options take %s bytes; the limit is 32768', octet_length(options::text));
  end if;
  named := null;
  if jsonb_typeof(options -> 'headers') <> 'null' then
    named := holdfast.header_problem(options -> 'headers');
  end if;
  if named is null and options ?| array['deliverAt', 'expiresAt'] then
    named := holdfast.time_problem(options ->> 'deliverAt', options ->> 'expiresAt');
  end if;
  return named;
end $$;

-- A line break would start a header of its own; what isn't Latin-1 can't travel in HTTP at all; some names frame the request or carry its
-- identity (src/core/reserved-headers.ts).
create function holdfast.header_problem(headers jsonb) returns text
language plpgsql immutable as $$
declare
  bad text;
begin
  if jsonb_typeof(headers) <> 'object' then
    return 'headers must be a JSON object of strings';
  end if;
  select name into bad from jsonb_each(headers) as header (name, value)
  where jsonb_typeof(value) <> 'string' or name !~ '^[-!#$%&''*+.^_`|~0-9A-Za-z]{1,128}$'
    or value #>> '{}' !~ '^[\t\u0020-\u007e\u00a0-\u00ff]*$' limit 1;
  if found then
    return format('header "%s" can not be sent: names take letters, digits and "-", values are texts of Latin-1 characters without line breaks', bad);
  end if;
  select name into bad from jsonb_object_keys(headers) as name
  where lower(name) in ('connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-connection', 'te', 'trailer',
                        'transfer-encoding', 'upgrade')
    or lower(name) like any (array['webhook-%', 'holdfast-%']) limit 1;
  if found then
    return format('header "%s" is set by Holdfast', bad);
  end if;
  if (select count(*) > 64 or sum(octet_length(name) + octet_length(value)) > 8192 from jsonb_each_text(headers) as header (name, value)) then
    return 'a message takes 64 headers at most, of 8192 bytes together';
  end if;
  return null;
end $$;

-- Apart, because catching an error costs a subtransaction, which most messages don't need.
create function holdfast.time_problem(deliver_at text, expires_at text) returns text
language plpgsql stable as $$
declare
  advice constant text := 'deliverAt and expiresAt take a timestamp such as 2030-01-31T12:00:00Z';
begin
  if not isfinite(deliver_at::timestamptz) or not isfinite(expires_at::timestamptz) then
    return advice;
  end if;
  return case when deliver_at::timestamptz >= expires_at::timestamptz then 'expiresAt must be later than deliverAt' end;
exception when others then
  return advice;
end $$;

-- Refuses what is wrong with its place, before anything is stored. `message_options` holds one entry (or null) per message.
create function holdfast.check_message_options(message_options jsonb[]) returns void
language plpgsql stable as $$
declare
  bad record;
begin
  select at, problem into bad
  from unnest(message_options) with ordinality as given (option, at), holdfast.option_problem(option) as problem
  where option is not null and problem is not null
  order by at limit 1;
  if found then
    raise exception 'message %: %', bad.at, bad.problem using errcode = 'HF002';
  end if;
end $$;

-- Rings for the owners of these lanes that sleep. NOTIFY takes a database-wide lock at commit, so an awake owner is left alone.
create function holdfast.ring(lane_ids integer[]) returns void
language plpgsql as $$
begin
  perform pg_notify('holdfast_node_' || awake.incarnation, '')
  from (
    select distinct node.incarnation
    from holdfast.shard_leases as lease
    join holdfast.nodes as node on node.incarnation = lease.incarnation and node.is_asleep
    where lease.shard = any (select lane & 255 from unnest(lane_ids) as lane)
  ) as awake;
end $$;

-- Soft bounds, from what the owners last reported: a check costs the same at any depth. Overshoot: what is published within
-- one report interval (a second).
create function holdfast.owed_overall() returns bigint
language plpgsql stable as $$
begin
  return coalesce(
    (select sum(pending) from holdfast.nodes where beat_at > clock_timestamp() - interval '10 seconds'),
    -- With no node to report, the planner's last count has to do; it too costs the same at any depth.
    (select greatest(reltuples, 0) from pg_class where oid = 'holdfast.deliveries'::regclass)
  );
end $$;

create function holdfast.check_bound(added bigint) returns void
language plpgsql stable as $$
declare
  bound bigint := holdfast.setting_integer('max_pending');
  owed bigint;
begin
  if bound > 0 then
    owed := holdfast.owed_overall();
    if owed + added > bound then
      raise exception 'the queue is full: % deliveries are owed, % more would exceed the bound of %', owed, added, bound
        using errcode = '53400', constraint = 'max_pending', hint = 'Publish again later, with backoff, or raise HOLDFAST_MAX_PENDING.';
    end if;
  end if;
end $$;

-- The one way in for messages aimed at one endpoint. `message_options` is null or holds one entry (or null) per body.
-- A message to one endpoint and its delivery share their number; outside they differ by prefix.
-- `publisher`: the node of the publisher's own process, if it has one. Where that owns the endpoint's lane nobody is rung: it is told in memory,
-- and may start the message right after the commit (`is_publishers`).
-- What has to be known is asked in one statement: on an idle machine each costs a single message 20 to 40 µs, however little it does.
create function holdfast.accept(
  endpoint_name text, bodies text[], message_options jsonb[], publisher integer,
  out ids bigint[], out lane integer, out is_publishers boolean
)
language plpgsql as $$
declare
  total integer := coalesce(cardinality(bodies), 0);
  facts record;
  worst record;
  room bigint;
  own_transaction xid8;
begin
  select endpoint.id, endpoint.tenant, endpoint.settings -> 'limits' ->> 'onFull' as on_full,
         (endpoint.settings -> 'limits' ->> 'maxPending')::bigint as bound, coalesce(stats.pending, 0) as owed,
         (select value::text::bigint from holdfast.settings where name = 'max_payload_bytes') as max_bytes,
         (select value::text::bigint from holdfast.settings where name = 'max_pending') as global_bound,
         (select sum(pending) from holdfast.nodes where beat_at > clock_timestamp() - interval '10 seconds') as owed_by_nodes,
         holdfast.id_at(clock_timestamp()) - sequence.last_value > 4096 * 5000 as is_behind_clock,
         lease.incarnation as owner
  into facts
  from holdfast.endpoints as endpoint cross join holdfast.ids as sequence
  left join holdfast.lane_stats as stats on stats.lane_id = endpoint.id
  left join holdfast.shard_leases as lease on lease.shard = endpoint.id & 255
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
    perform holdfast.check_message_options(message_options);
  end if;
  -- All together take less than one may: no need to look at each.
  if pg_column_size(bodies) > facts.max_bytes then
    select octet_length(body) as bytes, at into worst
    from unnest(bodies) with ordinality as given (body, at) where octet_length(body) > facts.max_bytes limit 1;
    if found then
      raise exception 'the payload of message % takes % bytes; the limit is %', worst.at, worst.bytes, facts.max_bytes
        using errcode = 'HF003', hint = 'Send a reference to the data instead of the data, or raise max_payload_bytes.';
    end if;
  end if;
  if facts.global_bound > 0 and (facts.owed_by_nodes is null or facts.owed_by_nodes + total > facts.global_bound) then
    perform holdfast.check_bound(total);
  end if;
  if facts.owed + total > facts.bound then
    if facts.on_full = 'reject' then
      raise exception 'endpoint "%" is full: % deliveries are owed, its bound is %', endpoint_name, facts.owed, facts.bound
        using errcode = '53400', hint = 'Publish again later, raise limits.maxPending, or set limits.onFull to dead_letter.';
    end if;
    -- What still fits is owed; what comes after it is dead at once.
    room := greatest(0, facts.bound - facts.owed);
  end if;

  -- The transaction id comes before the ids: a reader whose snapshot was taken before it knows that these ids lie beyond
  -- everything it has seen.
  own_transaction := pg_current_xact_id();
  if facts.is_behind_clock then
    perform holdfast.advance_ids();
  end if;

  if message_options is null and room is null then
    with given as (
      select nextval('holdfast.ids') as id, body, octet_length(body) as size from unnest(bodies) as body
    ), stored as (
      insert into holdfast.messages (id, size, tenant, body)
      select given.id, given.size, facts.tenant, given.body::json from given
    ), owed as (
      insert into holdfast.deliveries (id, message_id, lane_id, size)
      select given.id, given.id, lane, given.size from given
      returning deliveries.id
    )
    select array_agg(owed.id) into ids from owed;
    is_publishers := coalesce(facts.owner = publisher, false);
  else
    select array_agg(id) into ids
    from holdfast.accept_with_options(lane, facts.tenant, bodies, message_options, room) as id;
  end if;
  if not is_publishers then
    perform holdfast.ring(array[lane]);
  end if;
end $$;

create function holdfast.accept_messages(endpoint_name text, bodies text[], message_options jsonb[] default null) returns setof bigint
language plpgsql as $$
begin
  return query select unnest(accepted.ids) from holdfast.accept(endpoint_name, bodies, message_options, null) as accepted;
end $$;

-- The slow lane of accept_messages: options, idempotency keys, and an endpoint that has room for so many only (null: for all), whose further
-- messages become dead letters at once. Only messages with an idempotency key cost a statement of their own; the rest is stored as a set.
create function holdfast.accept_with_options(
  lane integer, lane_tenant text, bodies text[], message_options jsonb[], room bigint
) returns setof bigint
language plpgsql as $$
declare
  total integer := cardinality(bodies);
  ids bigint[];
  is_repeated boolean[] := array_fill(false, array[total]);
  is_refused boolean[];
  blocks_keys boolean;
  given record;
  earlier bigint[];
begin
  select array_agg(nextval('holdfast.ids')) into ids from generate_series(1, total);

  for given in
    select at, body, option ->> 'idempotencyKey' as key
    from unnest(bodies, message_options) with ordinality as message (body, option, at)
    where option ->> 'idempotencyKey' is not null
  loop
    earlier := holdfast.claim_idempotency_key('lane:' || lane, given.key, '', given.body, array[ids[given.at]]);
    if earlier is not null then
      ids[given.at] := earlier[1];
      is_repeated[given.at] := true;
    end if;
  end loop;

  -- What was sent before takes no room.
  select array_agg(coalesce(number > room, false) order by at) into is_refused
  from (
    select at, sum((not is_known)::integer) over (order by at) as number
    from unnest(is_repeated) with ordinality as message (is_known, at)
  ) as numbered;

  insert into holdfast.messages (id, size, type, tenant, correlation_id, ordering_key, criticality, headers, metadata, body)
  select message.id, octet_length(body), option ->> 'type', coalesce(option ->> 'tenant', lane_tenant), option ->> 'correlationId',
         option ->> 'orderingKey', coalesce(holdfast.criticality_code(option ->> 'criticality'), 1), option -> 'headers', option -> 'metadata', body::json
  from unnest(ids, bodies, message_options, is_repeated) as message (id, body, option, is_known)
  where not is_known;

  if room is not null then
    blocks_keys := (select settings ->> 'onDead' = 'block' from holdfast.endpoints where id = lane);
    insert into holdfast.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, error_code, error, criticality, priority,
                                       attempt, attempts, ordering_key, blocks_key)
    select nextval('holdfast.ids'), message.id, message.id, lane, 'endpoint_full', 3, 'endpoint_full',
           'The endpoint owed as many deliveries as its bound allows.',
           coalesce(holdfast.criticality_code(option ->> 'criticality'), 1), coalesce((option ->> 'priority')::smallint, 0),
           0, '[]', option ->> 'orderingKey', blocks_keys and option ->> 'orderingKey' is not null
    from unnest(ids, message_options, is_repeated, is_refused) as message (id, option, is_known, is_dead)
    where is_dead and not is_known;
  end if;
  insert into holdfast.deliveries (id, message_id, lane_id, size, priority, criticality, due_at, owed_at, expires_at, ordering_key)
  select message.id, message.id, lane, octet_length(body), coalesce((option ->> 'priority')::smallint, 0),
         coalesce(holdfast.criticality_code(option ->> 'criticality'), 1),
         nullif(greatest((option ->> 'deliverAt')::timestamptz, now()), now()),
         greatest((option ->> 'deliverAt')::timestamptz, case when option ->> 'deliverAt' is not null then now() end),
         (option ->> 'expiresAt')::timestamptz, option ->> 'orderingKey'
  from unnest(ids, bodies, message_options, is_repeated, is_refused) as message (id, body, option, is_known, is_dead)
  where not is_known and not is_dead;
  return query select unnest(ids);
end $$;

-- Null when the key is new and now belongs to `result`; otherwise what its first use resulted in.
create function holdfast.claim_idempotency_key(
  key_scope text, idempotency_key text, prefix text, body text, new_result bigint[]
) returns bigint[]
language plpgsql as $$
declare
  hash text := md5(prefix || body::jsonb::text);
  earlier record;
begin
  for look in 1 .. 10 loop
    delete from holdfast.idempotency_keys where scope = key_scope and key = idempotency_key and expires_at <= now();
    insert into holdfast.idempotency_keys (scope, key, body_hash, result, expires_at)
    values (key_scope, idempotency_key, hash, to_jsonb(new_result),
            now() + make_interval(secs => holdfast.setting_integer('idempotency_window_ms') / 1000.0))
    on conflict do nothing;
    if found then
      return null;
    end if;
    select body_hash, result into earlier from holdfast.idempotency_keys where scope = key_scope and key = idempotency_key;
    -- A key that was there for the insert and is gone for the look has been purged in between: it is free now.
    continue when not found;
    if earlier.body_hash <> hash then
      raise exception 'the idempotency key "%" was used before with another body', idempotency_key
        using errcode = 'HF004', hint = 'Use a new key for a new message.';
    end if;
    return array(select jsonb_array_elements_text(earlier.result)::bigint);
  end loop;
  raise exception 'the idempotency key "%" comes and goes', idempotency_key using errcode = '40001', hint = 'Try again.';
end $$;

create function holdfast.send(endpoint text, payload jsonb, options jsonb default null) returns text
language sql as $$
  select holdfast.format_id('msg', id)
  from holdfast.accept_messages(
    endpoint, array[coalesce(payload, 'null')::text], case when options is not null then array[options] end
  ) as id
$$;

create function holdfast.send_batch(endpoint text, payloads jsonb[], options jsonb default null) returns setof text
language sql as $$
  select holdfast.format_id('msg', id)
  from holdfast.accept_messages(
    endpoint, payloads::text[], case when options is not null then array_fill(options, array[cardinality(payloads)]) end
  ) as id
$$;

-- What the SDK calls: bodies as lines of one text, which costs a client no quoting and no array to be parsed; ids back as one text.
-- JSON never has a line break of its own but between tokens, where the SDK writes none.
-- In PL/pgSQL, which keeps its plans: as an SQL function it was planned at every call, a third of a single message's 0.37 ms.
create function holdfast.accept_lines(endpoint_name text, lines text, message_options jsonb[] default null) returns text
language plpgsql as $$
begin
  return array_to_string((holdfast.accept(endpoint_name, string_to_array(lines, E'\n'), message_options, null)).ids, ',');
end $$;
