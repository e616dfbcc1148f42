-- Dead letters: looking at them and settling them.

-- What is the same in errors that differ only by what they happened to: urls, hosts, addresses, ids and numbers are one word each.
-- 37 µs for a typical text, paid at burial: on read it would be paid for every open letter at every look (3.7 s for 100,000).
create function holdfast.normalise_error(error text) returns text
language sql immutable parallel safe
return (
  regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    left(error, 500),
    '\m[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"''<>)]+', '<url>', 'g'),
    '\m[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\M', '<id>', 'g'),
    '\m(msg|dlv|dlt|run|atm|op)_[0-9a-z]{11}(\.[0-9]+)?\M', '<id>', 'g'),
    '(\[[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\]|\m[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{0,4}){3,7}\M|::1\M|\m[0-9]{1,3}(\.[0-9]{1,3}){3}\M|\mlocalhost\M)', '<host>', 'g'),
    '\m[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*\.[a-zA-Z]{2,}\M', '<host>', 'g'),
    '\m(?=[0-9a-zA-Z_-]*[0-9])(?=[0-9a-zA-Z_-]*[a-zA-Z])[0-9a-zA-Z_-]{8,}\M', '<id>', 'g'),
    '[0-9]+', '<n>', 'g')
);

create function holdfast.error_fingerprint(reason text, status_code smallint, error_code text, error text) returns text
language sql immutable parallel safe
return substr(md5(concat_ws(E'\n', reason, coalesce(status_code, 0), coalesce(error_code, ''), holdfast.normalise_error(coalesce(error, '')))), 1, 16);

alter table holdfast.dead_letters
  add column fingerprint text generated always as (holdfast.error_fingerprint(reason, status_code, error_code, error)) stored,
  -- Whether a bulk action may touch it: only what stood like this when its filter was looked at.
  add column changed_xid xid8 not null default pg_current_xact_id(),
  -- How often it was sent again by schedule, because it is critical.
  add column resends integer not null default 0,
  add column resent_at timestamptz;
create trigger dead_letters_note_change before update on holdfast.dead_letters for each row execute function holdfast.note_change();
create index dead_letters_state on holdfast.dead_letters (state, id);
create index dead_letters_open on holdfast.dead_letters (delivery_id) where state = 'open';
create index dead_letters_fingerprint on holdfast.dead_letters (fingerprint, id);
create index dead_letters_lane_id on holdfast.dead_letters (lane_id, id);
create index dead_letters_lane_delivery on holdfast.dead_letters (lane_id, delivery_id);
create index dead_letters_settled on holdfast.dead_letters (settled_at) where settled_at is not null;

create function holdfast.outcome_word(code smallint) returns text
language sql immutable parallel safe
return case code when 1 then 'success' when 2 then 'retryable' when 3 then 'permanent' when 4 then 'gone' when 5 then 'throttled'
                 when 10 then 'expired' when 11 then 'cancelled' when 12 then 'dropped' end;

create function holdfast.outcome_code(word text) returns smallint
language sql immutable parallel safe
return case word when 'success' then 1 when 'retryable' then 2 when 'permanent' then 3 when 'gone' then 4 when 'throttled' then 5
                 when 'expired' then 10 when 'cancelled' then 11 when 'dropped' then 12 end;

create function holdfast.lane_of(endpoint_name text) returns integer
language plpgsql stable as $$
declare
  lane integer := (select id from holdfast.endpoints where name = endpoint_name);
begin
  if lane is null then
    raise exception 'there is no endpoint named "%"', endpoint_name using errcode = 'HF001';
  end if;
  return lane;
end $$;

create function holdfast.route_of(route_name text) returns integer
language plpgsql stable as $$
declare
  route integer := (select id from holdfast.routes where name = route_name);
begin
  if route is null then
    raise exception 'there is no route named "%"', route_name using errcode = 'HF005';
  end if;
  return route;
end $$;

-- One field of a filter on a message, as a condition; null when it isn't one.
create function holdfast.message_condition(field text, value text) returns text
language sql stable
return case field
  when 'tenant' then format('message.tenant = %L', value)
  when 'eventType' then case
    when value ~ '[*]' then format('message.type like %L', replace(replace(replace(value, '_', '\_'), '**', '*'), '*', '%'))
    else format('message.type = %L', value) end
  when 'correlationId' then format('message.correlation_id = %L', value)
end;

-- The messages of one correlation id, or null when they are too many to be named. Index: messages_correlation.
create function holdfast.correlated_messages(wanted text) returns bigint[]
language plpgsql stable as $$
declare
  ids bigint[] := array(
    select id from (
      select id from holdfast.messages where correlation_id = wanted
      union all select id from holdfast.messages_kept where correlation_id = wanted
    ) as every limit 1001
  );
begin
  return case when cardinality(ids) <= 1000 then ids end;
end $$;

-- A filter on dead letters as conditions: `narrow` are those that an index serves, `wide` those that are asked of each letter found so,
-- `asks_message` whether its message is needed. The same for looking, counting and bulk actions, so that these agree.
create function holdfast.letter_conditions(filter jsonb, out narrow text, out wide text, out asks_message boolean)
language plpgsql stable as $$
declare
  field text;
  value text;
  narrow_ones text[] := '{true}';
  wide_ones text[] := '{true}';
  condition text;
  correlated bigint[];
begin
  asks_message := false;
  for field, value in
    select key, case when jsonb_typeof(given) = 'array' then given::text else given #>> '{}' end
    from jsonb_each(coalesce(filter, '{}')) as entry (key, given) where jsonb_typeof(given) <> 'null'
  loop
    condition := holdfast.message_condition(field, value);
    correlated := case when field = 'correlationId' then holdfast.correlated_messages(value) end;
    if correlated is not null then
      narrow_ones := narrow_ones || format('letter.message_id = any (%L::bigint[])', correlated::text);
      continue;
    elsif condition is not null then
      asks_message := true;
      wide_ones := wide_ones || condition;
      continue;
    end if;
    case field
      when 'endpoint' then narrow_ones := narrow_ones || format('letter.lane_id = %s', holdfast.lane_of(value));
      when 'state' then narrow_ones := narrow_ones || format('letter.state = %L', value);
      when 'job' then
        asks_message := true;
        wide_ones := wide_ones || format('message.type = %L and letter.lane_id in (select id from holdfast.queues)', value);
      when 'fingerprint' then narrow_ones := narrow_ones || format('letter.fingerprint = %L', value);
      when 'messageId' then narrow_ones := narrow_ones || format('letter.message_id = %s', holdfast.original_message(holdfast.parse_id('msg', value)));
      when 'ids' then narrow_ones := narrow_ones || format('letter.id = any (%L::bigint[])',
        array(select holdfast.parse_id('dlt', id) from jsonb_array_elements_text(value::jsonb) as id)::text);
      when 'route' then wide_ones := wide_ones || format('letter.route_id = %s', holdfast.route_of(value));
      when 'reason' then wide_ones := wide_ones || format('letter.reason = %L', value);
      when 'class' then wide_ones := wide_ones || format('letter.outcome = %s', coalesce(holdfast.outcome_code(value), -1));
      when 'statusCode' then wide_ones := wide_ones || format('letter.status_code = %s', value::smallint);
      when 'errorCode' then wide_ones := wide_ones || format('letter.error_code = %L', value);
      when 'error' then wide_ones := wide_ones || format('strpos(lower(letter.error), lower(%L)) > 0', value);
      when 'criticality' then wide_ones := wide_ones || format('letter.criticality = %s', coalesce(holdfast.criticality_code(value), -1));
      when 'orderingKey' then wide_ones := wide_ones || format('letter.ordering_key = %L', value);
      when 'from' then wide_ones := wide_ones || format('letter.created_at >= %L::timestamptz', value);
      when 'to' then wide_ones := wide_ones || format('letter.created_at < %L::timestamptz', value);
      else raise exception 'dead letters can not be filtered by "%"', field using errcode = 'HF007',
        hint = 'Known fields: endpoint, job, state, fingerprint, messageId, ids, route, tenant, eventType, correlationId, reason, class, statusCode, errorCode, error, criticality, orderingKey, from, to.';
    end case;
  end loop;
  narrow := array_to_string(narrow_ones, ' and ');
  wide := array_to_string(wide_ones, ' and ');
end $$;

-- Where a letter's message is, partition or not.
create function holdfast.message_join(owner text) returns text
language sql immutable
return format($join$
  left join lateral (
    select type, tenant, correlation_id from holdfast.messages where id = %1$s.message_id
    union all
    select type, tenant, correlation_id from holdfast.messages_kept where id = %1$s.message_id limit 1
  ) as message on true $join$, owner);

-- The newest letters before an id, at most `max_scanned` looked at: `scanned_to` says where it stopped when there may be more.
create function holdfast.find_letters(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  conditions record := holdfast.letter_conditions(filter);
begin
  execute format($query$
    with scanned as materialized (
      select letter.* from holdfast.dead_letters as letter
      where letter.id < $1 and %s order by letter.id desc limit $3
    ), matched as (
      select letter.id from scanned as letter %s where %s order by letter.id desc limit $2
    )
    select array(select id from matched), (select min(id) from scanned having count(*) = $3)
  $query$, conditions.narrow, case when conditions.asks_message then holdfast.message_join('letter') end, conditions.wide)
  into ids, scanned_to using before_id, max_rows, case when conditions.wide = 'true' then max_rows else max_scanned end;
end $$;

create function holdfast.dlq_summary()
returns table (
  endpoint text, dead bigint, redriven bigint, resolved bigint, discarded bigint, oldest timestamptz, newest timestamptz, queue text
)
language plpgsql stable as $$
begin
  return query
  select endpoint.name,
    count(*) filter (where letter.state = 'open'), count(*) filter (where letter.state = 'redriven'),
    count(*) filter (where letter.state = 'resolved'), count(*) filter (where letter.state = 'discarded'),
    min(letter.created_at) filter (where letter.state = 'open'), max(letter.created_at) filter (where letter.state = 'open'), line.name
  from holdfast.dead_letters as letter
  left join holdfast.endpoints as endpoint on endpoint.id = letter.lane_id
  left join holdfast.queues as line on line.id = letter.lane_id
  group by letter.lane_id, endpoint.name, line.name
  order by 2 desc, 1;
end $$;

-- Letters by what is wrong and where, the largest group first.
create function holdfast.letter_groups(filter jsonb, max_groups integer)
returns table (
  fingerprint text, lane_id integer, letters bigint, first_seen timestamptz, last_seen timestamptz, sample_id bigint
)
language plpgsql stable as $$
declare
  conditions record := holdfast.letter_conditions(filter);
begin
  return query execute format($query$
    select letter.fingerprint, letter.lane_id, count(*), min(letter.created_at), max(letter.created_at), max(letter.id)
    from holdfast.dead_letters as letter %s
    where %s and %s
    group by letter.fingerprint, letter.lane_id order by count(*) desc, max(letter.id) desc limit $1
  $query$, case when conditions.asks_message then holdfast.message_join('letter') end, conditions.narrow, conditions.wide)
  using max_groups;
end $$;

-- Settling. The states of a letter, and what leads from one to the other; every update names the state that it expects:
--   open ──redrive──► redriven ──delivered──► redriven, settled
--     ▲                  └──died again, or called off──► open
--     ├──resolve──► resolved      ├──discard──► discarded
--     └── a late success of the delivery itself resolves an open or redriven letter.

insert into holdfast.settings (name, value) values
  ('dlq_retention_days', '30'),
  -- 0: what nobody has settled is kept for ever.
  ('unsettled_retention_days', '0');

-- Owes these letters again, in the order in which they were owed first. What isn't open any more, or has lost its endpoint, is passed over:
-- of two that redrive the same letter one does. The body stays where it is; the retry count, the expiry and the idempotency key are gone.
create function holdfast.redrive_letters(letter_ids bigint[], actor text, is_resend boolean default false)
returns table (letter_id bigint, delivery_id bigint)
language plpgsql as $$
declare
  open_ids bigint[];
  lanes integer[];
begin
  -- In one order, so that two bulk actions never wait for each other in a circle.
  open_ids := array(
    select letter.id from holdfast.dead_letters as letter
    where letter.id = any (letter_ids) and letter.state = 'open' order by letter.id for update
  );
  perform holdfast.keep_bodies(array(select message_id from holdfast.dead_letters where id = any (open_ids)));
  -- The transaction id comes before the ids: see accept_messages.
  perform pg_current_xact_id();
  if holdfast.id_at(clock_timestamp()) - (select last_value from holdfast.ids) > 4096 * 5000 then
    perform holdfast.advance_ids();
  end if;
  return query
  with numbered as materialized (
    select ordered.*, nextval('holdfast.ids') as new_id from (
      select letter.*, message.size from holdfast.dead_letters as letter
      join holdfast.endpoints as endpoint on endpoint.id = letter.lane_id
      cross join lateral (
        select size from holdfast.messages where id = letter.message_id
        union all select size from holdfast.messages_kept where id = letter.message_id limit 1
      ) as message
      where letter.id = any (open_ids) order by letter.delivery_id
    ) as ordered
  ), owed as (
    insert into holdfast.deliveries (id, message_id, lane_id, route_id, size, priority, criticality, variant, replay_id, dead_letter_id, ordering_key)
    -- Somebody wants it: it isn't dropped silently any more.
    select new_id, message_id, lane_id, route_id, size, priority, greatest(criticality, 1), variant, replay_id, id, ordering_key from numbered
  )
  update holdfast.dead_letters as letter set
    state = 'redriven', redrives = letter.redrives + 1, redriven_delivery_id = new_id, settled_by = actor,
    action = case when is_resend then 'resend' else 'redrive' end,
    resends = letter.resends + case when is_resend then 1 else 0 end,
    resent_at = case when is_resend then clock_timestamp() else letter.resent_at end
  from numbered where letter.id = numbered.id
  returning letter.id, letter.redriven_delivery_id;
  return query select * from holdfast.redrive_runs(open_ids, actor, is_resend);
  lanes := array(select distinct lane_id from holdfast.dead_letters where id = any (open_ids));
  perform holdfast.ring(lanes);
end $$;

-- Ends these letters if they are open, and lets go of the ordering keys that they blocked. Returns how many it ended.
create function holdfast.settle_letters(letter_ids bigint[], new_state text, new_note text, new_action text, actor text) returns integer
language plpgsql as $$
declare
  settled integer;
  freed text[];
begin
  with locked as materialized (
    select id from holdfast.dead_letters where id = any (letter_ids) and state = 'open' order by id for update
  ), ended as (
    update holdfast.dead_letters as letter set
      state = new_state, settled_at = clock_timestamp(), settled_by = actor, note = new_note, action = new_action
    from locked where letter.id = locked.id
    returning letter.lane_id, letter.ordering_key, letter.blocks_key
  )
  select count(*), array_agg(distinct lane_id || ' free ' || ordering_key) filter (where blocks_key) into settled, freed from ended;
  perform holdfast.tell_nodes('holdfast_lanes', each) from unnest(freed) as each;
  return settled;
end $$;

create function holdfast.letter_state(dead_letter_id text, out id bigint, out state text)
language plpgsql as $$
begin
  id := holdfast.parse_id('dlt', dead_letter_id);
  select letter.state into state from holdfast.dead_letters as letter where letter.id = letter_state.id for update;
  if not found then
    raise exception 'there is no dead letter %', dead_letter_id using errcode = 'HF008';
  end if;
end $$;

-- Sends one letter again; returns its new delivery. One that is being redriven already is left alone, and its delivery returned.
create function holdfast.redrive_message(dead_letter_id text, actor text default current_user) returns text
language plpgsql as $$
declare
  letter record := holdfast.letter_state(dead_letter_id);
  delivery bigint;
  lane integer;
begin
  if letter.state = 'open' then
    select redriven.delivery_id into delivery from holdfast.redrive_letters(array[letter.id], actor) as redriven;
    if delivery is null then
      raise exception 'the endpoint of dead letter % is gone', dead_letter_id
        using errcode = 'HF009', hint = 'Replay its message to another endpoint, or discard the letter.';
    end if;
    perform holdfast.audit(actor, 'dead_letter.redriven', dead_letter_id,
                           jsonb_build_object('delivery', holdfast.format_id('dlv', delivery)));
  elsif letter.state = 'redriven' then
    select redriven_delivery_id into delivery from holdfast.dead_letters where id = letter.id;
  else
    raise exception 'dead letter % is % already', dead_letter_id, letter.state
      using errcode = 'HF009', hint = 'Replay its message to send it once more.';
  end if;
  return holdfast.format_id('dlv', delivery);
end $$;

create function holdfast.settle_letter(dead_letter_id text, new_state text, new_note text, new_action text, actor text) returns void
language plpgsql as $$
declare
  letter record := holdfast.letter_state(dead_letter_id);
begin
  if letter.state <> 'open' then
    raise exception 'dead letter % is % already', dead_letter_id, letter.state
      using errcode = 'HF009', hint = 'Only an open letter can be settled.';
  end if;
  perform holdfast.settle_letters(array[letter.id], new_state, new_note, new_action, actor);
  perform holdfast.audit(actor, 'dead_letter.' || new_state, dead_letter_id, jsonb_build_object('note', new_note, 'action', new_action));
end $$;

-- Removes letters whose time is over, at most `max_rows`: settled ones 30 days after their settlement; unsettled ones only when told to.
-- Indexes: dead_letters_settled, dead_letters_state.
create function holdfast.cleanup_dlq(max_rows integer default 10000) returns integer
language plpgsql as $$
declare
  settled_days bigint := holdfast.setting_integer('dlq_retention_days');
  unsettled_days bigint := holdfast.setting_integer('unsettled_retention_days');
  removed integer;
  unsettled integer := 0;
  freed text[];
begin
  delete from holdfast.dead_letters where id in (
    select id from holdfast.dead_letters
    where settled_at < now() - make_interval(days => settled_days::integer) order by settled_at limit max_rows for update skip locked
  );
  get diagnostics removed = row_count;
  if unsettled_days > 0 and removed < max_rows then
    with old as materialized (
      select id from holdfast.dead_letters
      where state = 'open' and created_at < now() - make_interval(days => unsettled_days::integer)
      order by id limit max_rows - removed for update skip locked
    ), gone as (
      delete from holdfast.dead_letters as letter using old where letter.id = old.id returning letter.lane_id, letter.ordering_key, letter.blocks_key
    )
    select count(*), array_agg(distinct lane_id || ' free ' || ordering_key) filter (where blocks_key) into unsettled, freed from gone;
    perform holdfast.tell_nodes('holdfast_lanes', each) from unnest(freed) as each;
    if unsettled > 0 then
      perform holdfast.audit('holdfast', 'dead_letters.unsettled_removed', 'dead_letters', jsonb_build_object('count', unsettled));
    end if;
  end if;
  return removed + unsettled;
end $$;

-- Criticality. What is critical persists while it is dead and unsettled, or owed for longer than an hour.
create index dead_letters_critical on holdfast.dead_letters (lane_id, id) where criticality = 2 and settled_at is null;
create index deliveries_critical on holdfast.deliveries (lane_id, id) where criticality = 2;

-- Who waits for critical events that don't arrive: how many, since when, the oldest, and what its receiver last answered.
-- Indexes: dead_letters_critical, deliveries_critical, attempts_failed.
create function holdfast.persisting_recipients()
returns table (
  endpoint text, contact text, dead_letters bigint, overdue bigint, since timestamptz, oldest_message_id bigint, last_error text, last_error_at timestamptz
)
language sql stable as $$
  select endpoint.name, endpoint.contact, count(*) filter (where stuck.is_dead), count(*) filter (where not stuck.is_dead),
         min(stuck.since), (array_agg(stuck.message_id order by stuck.since, stuck.id))[1], failed.error, failed.started_at
  from (
    select lane_id, id, message_id, created_at as since, true as is_dead from holdfast.dead_letters where criticality = 2 and settled_at is null
    union all
    select lane_id, id, message_id, coalesce(owed_at, holdfast.time_of_id(id)), false from holdfast.deliveries
    where criticality = 2 and coalesce(owed_at, holdfast.time_of_id(id)) < now() - interval '1 hour' and dead_letter_id is null
  ) as stuck
  join holdfast.endpoints as endpoint on endpoint.id = stuck.lane_id
  left join lateral (
    select error, started_at from holdfast.attempts
    where lane_id = endpoint.id and outcome <> 1 and outcome < 10 order by delivery_id desc limit 1
  ) as failed on true
  group by endpoint.id, endpoint.name, endpoint.contact, failed.error, failed.started_at
  order by min(stuck.since)
$$;

-- Sends critical letters that are still open once more, as an operation; null when there are none, or the last one is still at it.
create function holdfast.resend_critical(actor text default 'holdfast') returns bigint
language plpgsql as $$
begin
  if exists (select from holdfast.operations where state in ('running', 'paused') and options ->> 'isResend' = 'true')
    or not exists (select from holdfast.dead_letters where criticality = 2 and settled_at is null and state = 'open') then
    return null;
  end if;
  return holdfast.create_operation('redrive', '{"criticality": "critical"}', '{"isResend": true}', null, null, actor);
end $$;
