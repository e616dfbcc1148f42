-- The archive: looking at deliveries and events, the lineage of replays, retention.

-- Endings other than success and failures are few, and people look for them; successes pay for neither index.
create index attempts_ended on holdfast.attempts (outcome, delivery_id) where outcome >= 10;
create index attempts_failed on holdfast.attempts (lane_id, delivery_id) where outcome <> 1;
-- What an operator has in hand is the caller's own id. Only messages that have one pay for it.
create index messages_correlation on holdfast.messages (correlation_id, id) where correlation_id is not null;
create index messages_kept_correlation on holdfast.messages_kept (correlation_id, id) where correlation_id is not null;

-- Which deliveries are replays: one row for each step of an operation. A replay's id is also the number that receivers know it by. Ids that
-- are drawn together are neighbours, so that two thousand of them are a range or a few; a row for each would cost as much as the delivery.
create table holdfast.replays (
  ids int8multirange not null,
  operation_id bigint,
  created_at timestamptz not null default now()
);
create index replays_ids on holdfast.replays using gist (ids);
create index replays_age on holdfast.replays (created_at);

create function holdfast.is_replay(delivery bigint) returns boolean
language sql stable
return exists (select from holdfast.replays where replays.ids @> delivery);

-- The message behind an id that a receiver may have seen.
create function holdfast.original_message(seen bigint) returns bigint
language plpgsql stable as $$
begin
  if not holdfast.is_replay(seen) then
    return seen;
  end if;
  return coalesce(
    (select message_id from holdfast.deliveries where id = seen),
    (select message_id from holdfast.attempts where delivery_id = seen limit 1),
    (select message_id from holdfast.dead_letters where delivery_id = seen),
    seen
  );
end $$;

-- A filter on deliveries as conditions. `lane`, `message_ids` and `wanted_state` choose the index; `wide` is asked of each delivery found by it.
create function holdfast.delivery_conditions(
  filter jsonb, out lane integer, out message_ids bigint[], out wanted_state text, out wide text, out asks_message boolean,
  out from_id bigint, out to_id bigint
)
language plpgsql stable as $$
declare
  field text;
  value text;
  wide_ones text[] := '{true}';
  condition text;
  correlated bigint[];
begin
  asks_message := false;
  from_id := 0;
  to_id := 9223372036854775807;
  for field, value in
    select key, case when jsonb_typeof(given) = 'array' then given::text else given #>> '{}' end
    from jsonb_each(coalesce(filter, '{}')) as entry (key, given) where jsonb_typeof(given) <> 'null'
  loop
    condition := holdfast.message_condition(field, value);
    correlated := case when field = 'correlationId' and message_ids is null then holdfast.correlated_messages(value) end;
    if correlated is not null then
      message_ids := correlated;
      continue;
    elsif condition is not null then
      asks_message := true;
      wide_ones := wide_ones || condition;
      continue;
    end if;
    case field
      when 'endpoint' then lane := holdfast.lane_of(value);
      when 'messageId' then
        message_ids := case when message_ids is null then array[holdfast.original_message(holdfast.parse_id('msg', value))]
          else array(select unnest(message_ids) intersect select holdfast.original_message(holdfast.parse_id('msg', value))) end;
      when 'state' then wanted_state := value;
      when 'from' then from_id := holdfast.id_at(value::timestamptz);
      when 'to' then to_id := holdfast.id_at(value::timestamptz);
      when 'ids' then wide_ones := wide_ones || format('delivery.id = any (%L::bigint[])',
        array(select holdfast.parse_id('dlv', id) from jsonb_array_elements_text(value::jsonb) as id)::text);
      when 'route' then wide_ones := wide_ones || format('delivery.route_id = %s', holdfast.route_of(value));
      when 'statusCode' then wide_ones := wide_ones || format('delivery.status_code = %s', value::smallint);
      when 'errorCode' then wide_ones := wide_ones || format('delivery.error_code = %L', value);
      when 'error' then wide_ones := wide_ones || format('strpos(lower(delivery.error), lower(%L)) > 0', value);
      else raise exception 'deliveries can not be filtered by "%"', field using errcode = 'HF007',
        hint = 'Known fields: endpoint, messageId, state, from, to, ids, route, tenant, eventType, correlationId, statusCode, errorCode, error.';
    end case;
  end loop;
  wide := array_to_string(wide_ones, ' and ');
end $$;

-- Where deliveries of a state are found, as a query that yields them newest first from $1 (exclusive) down to $4, at most $3.
create function holdfast.delivery_source(source text, lane integer, messages bigint[], ending smallint, asks_error boolean) returns text
language plpgsql immutable as $$
declare
  columns text;
  place text;
begin
  if source = 'owed' then
    columns := format('owed.id, owed.message_id, owed.lane_id, owed.route_id, %s', case when asks_error
      then 'tried.status_code, tried.error_code, tried.error' else 'null::smallint as status_code, null as error_code, null as error' end);
    -- deliveries_message, deliveries_ready (one range for each priority) or deliveries_pkey.
    place := case
      when messages is not null then format('(select * from holdfast.deliveries where id = any (%1$L::bigint[]) and message_id = id
        union all select * from holdfast.deliveries where message_id = any (%1$L::bigint[]) and message_id <> id)', messages::text)
      when lane is not null then format('(select line.* from generate_series(0, 3) as level cross join lateral (
          select * from holdfast.deliveries where lane_id = %s and (priority, id) < (level, $1) and (priority, id) >= (level, $4)
          order by priority desc, id desc limit $3
        ) as line)', lane)
      else 'holdfast.deliveries' end;
    return format('select %s from %s as owed %s where owed.id < $1 and owed.id >= $4 %s order by owed.id desc limit $3',
      columns, place,
      case when asks_error then 'left join lateral (select status_code, error_code, error from holdfast.attempts
        where delivery_id = owed.id order by attempt desc limit 1) as tried on true' end,
      case when lane is not null then format('and owed.lane_id = %s', lane) end);
  end if;
  if source = 'dead' then
    -- dead_letters_message, dead_letters_lane_delivery or dead_letters_delivery_id_key.
    return format('select delivery_id as id, message_id, lane_id, route_id, status_code, error_code, error from holdfast.dead_letters
      where delivery_id < $1 and delivery_id >= $4 and action is distinct from ''late_success'' %s %s order by delivery_id desc limit $3',
      case when lane is not null then format('and lane_id = %s', lane) end,
      case when messages is not null then format('and message_id = any (%L::bigint[])', messages::text) end);
  end if;
  -- attempts_message, attempts_ended, attempts_failed, attempts_lane or attempts_pkey.
  place := case
    when messages is not null then format('(select * from holdfast.attempts where delivery_id = any (%1$L::bigint[]) and message_id = delivery_id
      union all select * from holdfast.attempts where message_id = any (%1$L::bigint[]) and message_id <> delivery_id)', messages::text)
    else 'holdfast.attempts' end;
  return format('select delivery_id as id, message_id, lane_id, route_id, status_code, error_code, error from %s as tried
    where delivery_id < $1 and delivery_id >= $4 %s %s order by delivery_id desc limit $3',
    place, case when lane is not null then format('and lane_id = %s', lane) end,
    case when ending is not null then format('and outcome = %s', ending)
         when asks_error then 'and outcome <> 1' end);
end $$;

-- The newest deliveries before an id, whether owed, dead or done. Each place looks at `max_scanned` rows at most; `scanned_to` says where the
-- first of them stopped when there may be more.
create function holdfast.find_deliveries(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  asked record := holdfast.delivery_conditions(filter);
  asks_error boolean := filter ?| array['error', 'errorCode', 'statusCode'];
  sources text[] := case
    when asked.wanted_state is null then array['owed', 'dead', 'tried']
    when asked.wanted_state in ('pending', 'in_flight') then array['owed']
    when asked.wanted_state = 'dead' then array['dead']
    else array['tried'] end;
  ending smallint := holdfast.outcome_code(case asked.wanted_state when 'succeeded' then 'success' else asked.wanted_state end);
  parts text[] := '{}';
  source text;
begin
  foreach source in array sources loop
    parts := parts || format($part$
      select 1 as part, array(select distinct delivery.id from scanned_%1$s as delivery %2$s where %3$s) as ids,
             -- A delivery whose attempts were cut apart is looked at again.
             (select min(id) + 1 from scanned_%1$s having count(*) >= $3) as stopped_at
      $part$, source, case when asked.asks_message then holdfast.message_join('delivery') end, asked.wide);
  end loop;
  execute format($query$
    with %s, looked as (%s), stop as (select max(stopped_at) as at from looked)
    select array(
      select distinct id from looked, unnest(ids) as id, stop where id >= coalesce(stop.at, 0) order by id desc limit $2
    ), (select at from stop)
  $query$,
    (select string_agg(format('scanned_%s as materialized (%s)', each, holdfast.delivery_source(each, asked.lane, asked.message_ids, ending, asks_error)), ', ')
     from unnest(sources) as each),
    array_to_string(parts, ' union all '))
  into ids, scanned_to using least(before_id, asked.to_id), max_rows,
    -- A delivery has a row for each of its attempts.
    case when asked.wide = 'true' and not coalesce(asks_error, false) then max_rows * 4 else max_scanned end, asked.from_id;
end $$;

-- Events: state `unrouted` means that nobody wanted it when it was published.
create function holdfast.find_events(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  field text;
  value text;
  from_id bigint := 0;
  to_id bigint := 9223372036854775807;
  narrow text[] := '{true}';
  wide text[] := '{true}';
  condition text;
begin
  for field, value in
    select key, given #>> '{}' from jsonb_each(coalesce(filter, '{}')) as entry (key, given) where jsonb_typeof(given) <> 'null'
  loop
    condition := holdfast.message_condition(field, value);
    case
      -- messages_correlation
      when field = 'correlationId' then narrow := narrow || condition;
      when condition is not null then wide := wide || condition;
      when field = 'from' then from_id := holdfast.id_at(value::timestamptz);
      when field = 'to' then to_id := holdfast.id_at(value::timestamptz);
      -- messages_unrouted
      when field = 'state' and value = 'unrouted' then narrow := narrow || 'message.is_unrouted'::text;
      when field = 'state' and value = 'routed' then wide := wide || 'not message.is_unrouted'::text;
      else raise exception 'events can not be filtered by "%"', field using errcode = 'HF007',
        hint = 'Known fields: eventType, tenant, correlationId, state (unrouted or routed), from, to.';
    end case;
  end loop;
  -- A job's input is no event. Without jobs nobody is asked: a page then reads no more than it shows.
  if exists (select from holdfast.jobs) then
    wide := wide || 'not message.is_run'::text;
  end if;
  -- Bodies that outlived their partition are asked with the others, so that nothing that is still owed is missing.
  execute format($query$
    with scanned as materialized (
      select id, type, tenant, correlation_id, is_unrouted, is_run from (
        (select * from holdfast.messages as message where message.id < $1 and message.id >= $4 and %1$s order by message.id desc limit $3)
        union all
        (select * from holdfast.messages_kept as message where message.id < $1 and message.id >= $4 and %1$s order by message.id desc limit $3)
      ) as every order by id desc limit $3
    )
    select array(select distinct message.id from scanned as message where %2$s order by message.id desc limit $2),
           (select min(id) from scanned having count(*) >= $3)
  $query$, array_to_string(narrow, ' and '), array_to_string(wide, ' and '))
  into ids, scanned_to using least(before_id, to_id), max_rows, case when wide = '{true}' then max_rows else max_scanned end, from_id;
end $$;

-- Partitions that are about to go. Whoever is about to need a body asks here, under a lock that the marking waits for.
create table holdfast.retiring_partitions (
  name text primary key,
  parent text not null,
  from_id bigint not null,
  to_id bigint not null,
  marked_at timestamptz not null default now()
);

-- Copies the bodies of these messages that live in a partition about to go. Until the caller's transaction ends, no partition can be marked.
create function holdfast.keep_bodies(message_ids bigint[]) returns integer
language plpgsql as $$
declare
  kept integer := 0;
begin
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.retire'));
  if exists (select from holdfast.retiring_partitions where parent = 'messages') then
    insert into holdfast.messages_kept
    select message.* from unnest(message_ids) as wanted (id)
    join holdfast.retiring_partitions as retiring on retiring.parent = 'messages' and wanted.id >= retiring.from_id and wanted.id < retiring.to_id
    join holdfast.messages as message on message.id = wanted.id
    on conflict do nothing;
    get diagnostics kept = row_count;
  end if;
  return kept;
end $$;

-- Index: messages_pkey, messages_kept_pkey.
create function holdfast.is_stored(message bigint) returns boolean
language sql stable
return exists (select from holdfast.messages where id = message) or exists (select from holdfast.messages_kept where id = message);

-- Retention. A partition goes in four steps, each of which can be repeated: it is marked, what is still needed of it is copied, it is emptied
-- (but for the attempts of what is still owed), and its table is taken away. DETACH … CONCURRENTLY isn't to be had: PostgreSQL refuses it beside a default partition. Emptying
-- locks the old partition alone, which publishers don't touch; taking the empty table away needs a moment's lock on the parent, and
-- is given up and tried again later when it isn't granted at once.

-- The messages of a range of ids that something unsettled still needs. Indexes: deliveries_pkey, deliveries_message, dead_letters_message,
-- runs_pkey; a run that isn't its message's first is looked for in all runs, once a partition.
create function holdfast.needed_messages(first_id bigint, end_id bigint) returns setof bigint
language plpgsql stable as $$
begin
  return query
  select id from holdfast.deliveries where id >= first_id and id < end_id and message_id = id
  union select message_id from holdfast.deliveries where message_id >= first_id and message_id < end_id and message_id <> id
  union select message_id from holdfast.dead_letters where message_id >= first_id and message_id < end_id and settled_at is null
  union select id from holdfast.runs where id >= first_id and id < end_id and message_id is null
  union select message_id from holdfast.runs where message_id >= first_id and message_id < end_id
  union select holdfast.bundled_ids(first_id, end_id);
end $$;

-- Marks the partitions whose whole range is older than their table's retention (or than `months`). Waits for redrives and replays that are
-- being stored: later ones see the mark, and keep the bodies that they need.
create function holdfast.mark_retiring(months integer default null) returns integer
language plpgsql as $$
declare
  marked integer;
begin
  if months is not null and months not between 1 and 1200 then
    raise exception 'retention must be 1 to 1200 months, not %', months using errcode = '22023';
  end if;
  perform pg_advisory_xact_lock(hashtext('holdfast.retire'));
  insert into holdfast.retiring_partitions (name, parent, from_id, to_id)
  select part.name, kind.parent, part.from_id, part.to_id
  from unnest(array['messages', 'attempts']) as kind (parent)
  cross join lateral holdfast.partition_ranges(kind.parent) as part
  where part.to_id <= holdfast.id_at(now() - make_interval(months =>
    coalesce(months, holdfast.setting_integer(kind.parent || '_retention_months')::integer)))
  on conflict do nothing;
  get diagnostics marked = row_count;
  return marked;
end $$;

-- Copies what is still needed of a marked partition, at most `max_rows`; returns how many bodies that were.
create function holdfast.keep_needed(part text, max_rows integer default null) returns integer
language plpgsql as $$
declare
  retiring holdfast.retiring_partitions := (select r from holdfast.retiring_partitions as r where r.name = part);
  kept integer := 0;
begin
  if retiring.parent = 'messages' then
    insert into holdfast.messages_kept
    select message.* from holdfast.needed_messages(retiring.from_id, retiring.to_id) as needed
    join holdfast.messages as message on message.id = needed
    where not exists (select from holdfast.messages_kept as copy where copy.id = needed)
    limit max_rows
    on conflict do nothing;
    get diagnostics kept = row_count;
  end if;
  return kept;
end $$;

-- The deliveries and runs of a range of ids that are still owed though they were tried: a letter remembers its attempts, they don't.
-- Indexes: deliveries_pkey, runs_pkey.
create function holdfast.tried_and_owed(first_id bigint, end_id bigint) returns setof bigint
language plpgsql stable as $$
begin
  return query
  select id from holdfast.deliveries where id >= first_id and id < end_id and attempt > 0
  union all select id from holdfast.runs where id >= first_id and id < end_id and attempt > 0;
end $$;

create function holdfast.empty_partition(part text) returns void
language plpgsql as $$
declare
  retiring holdfast.retiring_partitions := (select r from holdfast.retiring_partitions as r where r.name = part);
begin
  if retiring.name is null then
    raise exception 'partition % is not marked to go', part using errcode = '22023';
  end if;
  -- From here on nobody reads it; whoever has read it and needs a body has kept it.
  execute format('lock table holdfast.%I in access exclusive mode', part);
  perform holdfast.keep_needed(part);
  if retiring.parent = 'attempts' then
    create temporary table attempts_to_keep on commit drop as
    select tried.* from holdfast.tried_and_owed(retiring.from_id, retiring.to_id) as owed (id)
    join holdfast.attempts as tried on tried.delivery_id = owed.id;
  end if;
  execute format('truncate holdfast.%I', part);
  if retiring.parent = 'attempts' then
    execute format('insert into holdfast.%I select * from attempts_to_keep', part);
    drop table attempts_to_keep;
  end if;
end $$;

create function holdfast.remove_partition(part text) returns void
language plpgsql as $$
declare
  parent_name text := (select parent from holdfast.retiring_partitions where name = part);
begin
  if parent_name is null then
    raise exception 'partition % is not marked to go', part using errcode = '22023';
  end if;
  if to_regclass(format('holdfast.%I', part)) is not null then
    execute format('alter table holdfast.%I detach partition holdfast.%I', parent_name, part);
    -- Without a partition of their own they go to the default one.
    if parent_name = 'attempts' then
      execute format('insert into holdfast.attempts select * from holdfast.%I', part);
    end if;
    execute format('drop table holdfast.%I', part);
  end if;
  delete from holdfast.retiring_partitions where name = part;
end $$;

-- All four steps at once, in the caller's transaction; set a lock_timeout. Nodes take them one by one, every hour. Returns how many went.
create function holdfast.drop_old_partitions(retention_months integer default null) returns integer
language plpgsql as $$
declare
  part text;
  dropped integer := 0;
begin
  perform holdfast.mark_retiring(retention_months);
  for part in select name from holdfast.retiring_partitions order by from_id, name loop
    perform holdfast.empty_partition(part);
    perform holdfast.remove_partition(part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

-- Rows that no partition wanted and whose time is over, bodies that nobody needs any more, and the lineage of replays that are gone; at most
-- `max_rows` of each. Returns how many went.
create function holdfast.purge_archive(max_rows integer) returns integer
language plpgsql as $$
declare
  messages_end bigint := holdfast.id_at(now() - make_interval(months => holdfast.setting_integer('messages_retention_months')::integer));
  attempts_end bigint := holdfast.id_at(now() - make_interval(months => holdfast.setting_integer('attempts_retention_months')::integer));
  purged integer;
  total integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.retire'));
  with old as (select * from holdfast.messages_default where id < messages_end order by id limit max_rows)
  insert into holdfast.messages_kept select old.* from old
  where old.id in (select holdfast.needed_messages((select min(id) from old), (select max(id) + 1 from old)))
  on conflict do nothing;
  delete from holdfast.messages_default where id in (select id from holdfast.messages_default where id < messages_end order by id limit max_rows);
  get diagnostics purged = row_count;
  total := total + purged;
  -- What was planned long ahead, or kept while it was owed, stays for as long after its attempt as any other.
  delete from holdfast.attempts_default as old using (
    select delivery_id, attempt, incarnation from holdfast.attempts_default as tried
    where delivery_id < attempts_end and started_at < holdfast.time_of_id(attempts_end)
      and not exists (select from holdfast.deliveries where id = tried.delivery_id)
      and not exists (select from holdfast.runs where id = tried.delivery_id)
    order by delivery_id limit max_rows
  ) as few where (old.delivery_id, old.attempt, old.incarnation) = (few.delivery_id, few.attempt, few.incarnation);
  get diagnostics purged = row_count;
  total := total + purged;
  delete from holdfast.replays where created_at < holdfast.time_of_id(attempts_end);
  get diagnostics purged = row_count;
  total := total + purged;
  with looked_at as (
    select id from holdfast.messages_kept where id > coalesce((select (value #>> '{}')::bigint from holdfast.settings where name = 'kept_cursor'), 0)
    order by id limit max_rows
  ), needed as (
    select holdfast.needed_messages((select min(id) from looked_at), (select max(id) + 1 from looked_at)) as id
  ), gone as (
    delete from holdfast.messages_kept where id in (select id from looked_at except select id from needed) returning id
  ), moved as (
    -- The next call goes on from here; after the last one it begins anew.
    insert into holdfast.settings (name, value)
    select 'kept_cursor', to_jsonb(case when count(*) < max_rows then 0 else max(id) end) from looked_at
    on conflict (name) do update set value = excluded.value
  )
  select count(*) into purged from gone;
  return total + purged;
end $$;
