-- Bulk actions that run in the background: a row with a filter and a moment, carried out in bounded steps.
-- Nobody owns an operation. A step is one transaction that locks the row, does some of the work and moves the cursor, so that any node can do
-- the next one, a node that dies half-way has done nothing, and no lease, takeover or fence is needed.
--
--   running ──► succeeded          running ──► failed (too many steps in a row failed; resume tries again)
--   running ◄──► paused            running, paused ──► cancelled (what is done stays done)

create table holdfast.operations (
  id bigint primary key default nextval('holdfast.ids'),
  kind text not null check (kind in ('redrive', 'resolve', 'discard', 'replay', 'retry', 'cancel')),
  filter jsonb not null,
  -- What the action needs to know besides: note, action, targetEndpoint, targetRoute.
  options jsonb not null default '{}',
  -- What was visible when the filter was looked at. What has changed since is left alone.
  as_of pg_snapshot not null,
  as_of_at timestamptz not null,
  state text not null default 'running' check (state in ('running', 'paused', 'succeeded', 'failed', 'cancelled')),
  total bigint not null,
  done bigint not null default 0,
  skipped bigint not null default 0,
  rate_per_second double precision,
  -- The last delivery (or message) that a step looked at.
  cursor bigint not null default 0,
  next_step_at timestamptz not null default now(),
  -- Why it stands still, when it does by itself.
  waiting text,
  node text,
  failures integer not null default 0,
  error text,
  created_by text not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
) with (fillfactor = 50);
create index operations_due on holdfast.operations (next_step_at) where state = 'running';

-- Whether a row that carries this transaction id was there, just like this, under a snapshot. Row headers hold the low half of it only.
-- `top` is the snapshot's xmax, `bottom_age` the age of its xmin: what is older has ended before. One expression, so that it is inlined: as a
-- query of its own it cost 30 µs a row.
create function holdfast.was_visible(row_xid xid, as_of pg_snapshot, top bigint, bottom_age integer) returns boolean
language sql stable parallel safe
return age(row_xid) > bottom_age or pg_visible_in_snapshot(
  greatest(3, top - (((top & 4294967295) - row_xid::text::bigint + 6442450944) & 4294967295) + 2147483648)::text::xid8, as_of
);

-- What an operation of this kind would touch, as a query: (position, id), with $1 the snapshot, $2 an id so old that it was surely seen then, $3 the
-- cursor, $4 how many at most (null: all), $5 the snapshot's xmax, $6 the age of its xmin. A replay's has more columns: see replay_targets.
create function holdfast.operation_targets(kind text, filter jsonb, options jsonb) returns text
language plpgsql stable as $$
declare
  letters record;
  owed record;
begin
  if kind in ('redrive', 'resolve', 'discard') then
    letters := holdfast.letter_conditions(filter || '{"state": "open"}');
    -- dead_letters_lane_delivery, or dead_letters_open.
    return format($query$
      select letter.delivery_id as position, letter.id from holdfast.dead_letters as letter %s
      where letter.delivery_id > $3 and %s and %s and pg_visible_in_snapshot(letter.changed_xid, $1)
      order by letter.delivery_id limit $4
    $query$, case when letters.asks_message then holdfast.message_join('letter') end, letters.narrow, letters.wide);
  elsif kind in ('retry', 'cancel') then
    owed := holdfast.delivery_conditions(filter - 'state');
    -- deliveries_pkey, deliveries_message, or deliveries_ready for a count; the last error is asked only of what meets the rest.
    return format($query$
      select delivery.id as position, delivery.id from (
        select owed.*, tried.status_code, tried.error_code, tried.error from (
          select holdfast.deliveries.*, deliveries.xmin as row_xid from holdfast.deliveries
          where id > $3 and id >= %s and id < %s %s %s %s
        ) as owed %s
      ) as delivery %s
      where %s and holdfast.was_visible(delivery.row_xid, $1, $5, $6)
      order by delivery.id limit $4
    $query$, owed.from_id, owed.to_id,
      case when owed.lane is not null then format('and lane_id = %s', owed.lane) end,
      case when owed.message_ids is not null then format('and message_id = any (%L::bigint[])', owed.message_ids::text) end,
      case when kind = 'retry' then 'and due_at > now()' end,
      case when filter ?| array['error', 'errorCode', 'statusCode']
        then 'left join lateral (select status_code, error_code, error from holdfast.attempts where delivery_id = owed.id order by attempt desc limit 1) as tried on true'
        else 'cross join (select null::smallint as status_code, null::text as error_code, null::text as error) as tried' end,
      case when owed.asks_message then holdfast.message_join('delivery') end, owed.wide);
  end if;
  return holdfast.replay_targets(filter, options);
end $$;

-- Refuses what can't be meant: no filter at all, or fields that the action doesn't know.
create function holdfast.check_operation(kind text, filter jsonb, options jsonb) returns void
language plpgsql stable as $$
begin
  if kind not in ('redrive', 'resolve', 'discard', 'replay', 'retry', 'cancel') then
    raise exception 'there is no operation "%"', kind using errcode = 'HF007';
  end if;
  if jsonb_strip_nulls(filter) = '{}' and not coalesce((options ->> 'all')::boolean, false) then
    raise exception 'an operation needs a filter' using errcode = 'HF007', hint = 'Say what to touch, or that all is meant ("all": true).';
  end if;
  if kind in ('redrive', 'resolve', 'discard') and coalesce(filter ->> 'state', 'open') <> 'open' then
    raise exception 'only open letters can be settled, not those that are %', filter ->> 'state' using errcode = 'HF007';
  end if;
  if kind in ('retry', 'cancel') and coalesce(filter ->> 'state', 'pending') <> 'pending' then
    raise exception 'only what is owed can be hurried or cancelled, not what is %', filter ->> 'state' using errcode = 'HF007';
  end if;
  if kind = 'replay' and (filter ->> 'from' is null or filter ->> 'to' is null) then
    raise exception 'a replay needs a time range' using errcode = 'HF007', hint = 'Give "from" and "to".';
  end if;
end $$;

-- How many rows an operation would touch now, and the moment to hand over to create_operation: then it touches these and no others.
create function holdfast.preview_operation(
  kind text, filter jsonb, options jsonb default '{}', seen_as_of text default null, out total bigint, out as_of text, out as_of_at timestamptz
)
language plpgsql as $$
begin
  perform holdfast.check_operation(kind, filter, options);
  -- '<snapshot>@<epoch seconds>'
  if seen_as_of is not null and seen_as_of !~ '^[0-9]+:[0-9]+:[0-9,]*@[0-9.]+$' then
    raise exception 'asOf must be what a preview gave' using errcode = 'HF007';
  end if;
  as_of_at := coalesce(to_timestamp(split_part(seen_as_of, '@', 2)::double precision), clock_timestamp());
  as_of := coalesce(split_part(seen_as_of, '@', 1), pg_current_snapshot()::text);
  execute format('select count(*) from (%s) as target', holdfast.operation_targets(kind, filter, options))
  into total using as_of::pg_snapshot, holdfast.id_at(as_of_at - interval '1 day'), 0::bigint, null::bigint, pg_snapshot_xmax(as_of::pg_snapshot)::text::bigint,
             age(pg_snapshot_xmin(as_of::pg_snapshot)::xid);
  as_of := as_of || '@' || extract(epoch from as_of_at);
end $$;

create function holdfast.create_operation(
  kind text, filter jsonb, options jsonb default '{}', rate double precision default null, seen_as_of text default null,
  actor text default current_user
) returns bigint
language plpgsql as $$
declare
  preview record;
  created bigint;
begin
  if rate is not null and not (rate > 0 and rate <= 1000000) then
    raise exception 'the rate must be a number of rows a second above 0, not %', rate using errcode = 'HF007';
  end if;
  preview := holdfast.preview_operation(kind, filter, options, seen_as_of);
  insert into holdfast.operations (kind, filter, options, as_of, as_of_at, total, rate_per_second, created_by)
  values (kind, jsonb_strip_nulls(filter), jsonb_strip_nulls(options), split_part(preview.as_of, '@', 1)::pg_snapshot, preview.as_of_at,
          preview.total, rate, actor)
  returning id into created;
  perform holdfast.audit(actor, 'operation.created', holdfast.format_id('op', created),
                         jsonb_build_object('kind', kind, 'filter', jsonb_strip_nulls(filter), 'total', preview.total));
  perform pg_notify('holdfast_operations', '');
  return created;
end $$;

-- The operations whose next step is due, and when the next of the others is, in milliseconds from now (null: none is running).
create function holdfast.due_operations(max_rows integer, out ids bigint[], out next_ms double precision)
language sql stable as $$
  select array(
    select id from holdfast.operations where state = 'running' and next_step_at <= clock_timestamp() order by next_step_at limit max_rows
  ), (
    select extract(epoch from min(next_step_at) - clock_timestamp())::double precision * 1000 from holdfast.operations
    where state = 'running' and next_step_at > clock_timestamp()
  )
$$;

-- How many deliveries an operation may add now, by the same soft bounds as publishing, and what to say when it may add none.
create function holdfast.room_for(op holdfast.operations, out room bigint, out obstacle text)
language plpgsql stable as $$
declare
  bound bigint := holdfast.setting_integer('max_pending');
  target text := coalesce(op.options ->> 'targetEndpoint', op.filter ->> 'endpoint', (
    select endpoint.name from holdfast.routes as route join holdfast.endpoints as endpoint on endpoint.id = route.lane_id
    where route.name = op.options ->> 'targetRoute'
  ));
  lane_room bigint;
begin
  room := case when bound > 0 then bound - holdfast.owed_overall() else 9223372036854775807 end;
  obstacle := case when room <= 0 then 'The queue is full.' end;
  select (endpoint.settings #>> '{limits,maxPending}')::bigint - coalesce(stats.pending, 0) into lane_room
  from holdfast.endpoints as endpoint left join holdfast.lane_stats as stats on stats.lane_id = endpoint.id where endpoint.name = target;
  if lane_room < room then
    room := lane_room;
    obstacle := case when room <= 0 then format('Endpoint "%s" is full.', target) end;
  end if;
end $$;

-- Does a bounded piece of an operation. Null: somebody else is at it, or it isn't running or due any more; else whether there is more.
create function holdfast.step_operation(operation_id bigint, node_name text, max_rows integer) returns boolean
language plpgsql as $$
declare
  op holdfast.operations;
  batch integer;
  looked_at integer;
  last_position bigint;
  ids bigint[];
  touched integer;
  space record;
  has_more boolean;
begin
  select * into op from holdfast.operations
  where id = operation_id and state = 'running' and next_step_at <= clock_timestamp() for update skip locked;
  if not found then
    return null;
  end if;
  -- A replay touches nobody's rows, so that nobody waits for a longer step; fewer steps are fewer plans and commits.
  if op.kind = 'replay' then
    max_rows := 4 * max_rows;
  end if;
  -- At a given rate, about a quarter of a second's worth at a time.
  batch := case when op.rate_per_second is null then max_rows else least(max_rows, greatest(1, ceil(op.rate_per_second / 4))) end;
  if op.kind in ('redrive', 'replay') then
    space := holdfast.room_for(op);
    if space.obstacle is not null then
      update holdfast.operations set waiting = space.obstacle, next_step_at = clock_timestamp() + interval '2 seconds', node = node_name
      where id = op.id;
      return true;
    end if;
    batch := least(batch, space.room);
  end if;
  if op.kind = 'replay' then
    select replayed.looked_at, replayed.last_position, cardinality(replayed.delivery_ids) into looked_at, last_position, touched
    from holdfast.replay_rows(op.id, holdfast.replay_targets(op.filter, op.options), op.as_of, op.as_of_at, op.cursor, batch) as replayed;
  else
    execute format('select count(*), max(target.position), array_agg(target.id order by target.position) from (%s) as target',
                   holdfast.operation_targets(op.kind, op.filter, op.options))
    into looked_at, last_position, ids using op.as_of, 0::bigint, op.cursor, batch::bigint, pg_snapshot_xmax(op.as_of)::text::bigint,
                                            age(pg_snapshot_xmin(op.as_of)::xid);
    touched := case when ids is null then 0 else holdfast.carry_out(op, ids) end;
  end if;
  has_more := looked_at = batch;
  update holdfast.operations set
    done = done + touched, cursor = coalesce(last_position, cursor), node = node_name, failures = 0, error = null, waiting = null,
    started_at = coalesce(started_at, clock_timestamp()),
    state = case when has_more then 'running' else 'succeeded' end,
    finished_at = case when has_more then null else clock_timestamp() end,
    skipped = case when has_more then skipped else greatest(0, total - done - touched) end,
    -- A second that was missed (no node, a full queue) isn't caught up on.
    next_step_at = case when rate_per_second is null then clock_timestamp()
      else greatest(next_step_at, clock_timestamp() - interval '1 second') + make_interval(secs => batch / rate_per_second) end
  where id = op.id;
  if not has_more then
    perform holdfast.audit(op.created_by, 'operation.succeeded', holdfast.format_id('op', op.id),
                           jsonb_build_object('kind', op.kind, 'total', op.total, 'done', op.done + touched));
  end if;
  return has_more;
end $$;

create function holdfast.carry_out(op holdfast.operations, ids bigint[]) returns integer
language plpgsql as $$
begin
  return case op.kind
    when 'redrive' then (select count(*) from holdfast.redrive_letters(ids, op.created_by, coalesce((op.options ->> 'isResend')::boolean, false)))
    when 'resolve' then holdfast.settle_letters(ids, 'resolved', op.options ->> 'note', op.options ->> 'action', op.created_by)
    when 'discard' then holdfast.settle_letters(ids, 'discarded', op.options ->> 'note', 'discard', op.created_by)
    when 'retry' then holdfast.hurry_deliveries(ids)
    when 'cancel' then holdfast.cancel_owed(ids, coalesce(op.options ->> 'note', format('Cancelled by %s.', op.created_by)))
  end;
end $$;

-- A step that failed is tried again, later and later; the tenth failure in a row ends the operation, and a person may resume it.
create function holdfast.fail_step(operation_id bigint, what text) returns void
language sql as $$
  update holdfast.operations set
    failures = failures + 1, error = left(what, 2000),
    next_step_at = clock_timestamp() + make_interval(secs => least(60, power(2, failures))),
    state = case when failures + 1 >= 10 then 'failed' else state end,
    finished_at = case when failures + 1 >= 10 then clock_timestamp() end
  where id = operation_id and state = 'running'
$$;

-- Pause, resume, cancel. Waits for a step that is under way; returns the state afterwards.
create function holdfast.steer_operation(operation_id text, wanted text, actor text default current_user) returns text
language plpgsql as $$
declare
  op holdfast.operations;
begin
  select * into op from holdfast.operations where id = holdfast.parse_id('op', operation_id) for update;
  if not found then
    raise exception 'there is no operation %', operation_id using errcode = 'HF010';
  end if;
  if op.state = wanted then
    return wanted;
  end if;
  if not (case wanted
    when 'paused' then op.state = 'running'
    when 'running' then op.state in ('paused', 'failed')
    when 'cancelled' then op.state in ('running', 'paused', 'failed')
    else false end) then
    raise exception 'operation % is % already', operation_id, op.state using errcode = 'HF011';
  end if;
  update holdfast.operations set
    state = wanted, next_step_at = clock_timestamp(), failures = 0, waiting = null,
    error = case when wanted = 'running' then null else error end,
    finished_at = case when wanted = 'cancelled' then clock_timestamp() end
  where id = op.id;
  perform holdfast.audit(actor, 'operation.' || case wanted when 'running' then 'resumed' else wanted end, operation_id,
                         jsonb_build_object('done', op.done, 'total', op.total));
  perform pg_notify('holdfast_operations', '');
  return wanted;
end $$;

-- Makes deliveries due that wait for their time. Index: deliveries_pkey.
create function holdfast.hurry_deliveries(delivery_ids bigint[]) returns integer
language plpgsql as $$
declare
  hurried integer;
  lanes integer[];
begin
  with locked as materialized (
    select id from holdfast.deliveries where id = any (delivery_ids) and due_at > now() order by id for update
  ), moved as (
    update holdfast.deliveries as owed set due_at = now() from locked where owed.id = locked.id returning owed.lane_id
  )
  select count(*), array_agg(distinct lane_id) into hurried, lanes from moved;
  perform holdfast.tell_nodes('holdfast_lanes', lane || ' due') from unnest(lanes) as lane;
  return hurried;
end $$;

-- Ends deliveries that are owed, visibly. One that is out at this moment may still arrive: then that is a fact. Index: deliveries_pkey.
create function holdfast.cancel_owed(delivery_ids bigint[], why text) returns integer
language plpgsql as $$
declare
  cancelled integer;
  lanes integer[];
begin
  with locked as materialized (
    select id from holdfast.deliveries where id = any (delivery_ids) order by id for update
  ), ended as (
    delete from holdfast.deliveries as owed using locked where owed.id = locked.id
    returning owed.id, owed.message_id, owed.lane_id, owed.route_id, owed.attempt, owed.dead_letter_id
  ), recorded as (
    insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
    select id, message_id, clock_timestamp(), attempt + 1, 0, lane_id, route_id, 11, 'cancelled', why from ended
    on conflict do nothing
  ), reopened as (
    update holdfast.dead_letters set state = 'open', settled_by = null, action = null
    where id in (select dead_letter_id from ended) and state = 'redriven' and settled_at is null
  )
  select count(*), array_agg(distinct lane_id) into cancelled, lanes from ended;
  perform holdfast.tell_nodes('holdfast_lanes', lane || ' recount') from unnest(lanes) as lane;
  return cancelled;
end $$;

-- One delivery: true when it was done, false when it isn't owed (or, for a retry, ready anyway).
create function holdfast.act_on_delivery(delivery_id text, kind text, note text default null, actor text default current_user) returns boolean
language plpgsql as $$
declare
  id bigint := holdfast.parse_id('dlv', delivery_id);
  touched integer := case kind
    when 'retry' then holdfast.hurry_deliveries(array[id])
    when 'cancel' then holdfast.cancel_owed(array[id], coalesce(note, format('Cancelled by %s.', actor))) end;
begin
  if touched > 0 then
    perform holdfast.audit(actor, case kind when 'retry' then 'delivery.hurried' else 'delivery.cancelled' end, delivery_id,
                           jsonb_build_object('note', note));
  end if;
  return touched > 0;
end $$;

create function holdfast.redrive_endpoint(name text, rate double precision default null, actor text default current_user) returns text
language sql as $$
  select holdfast.format_id('op', holdfast.create_operation('redrive', jsonb_build_object('endpoint', name), '{}', rate, null, actor))
$$;

create function holdfast.redrive_all(rate double precision default null, actor text default current_user) returns text
language sql as $$
  select holdfast.format_id('op', holdfast.create_operation('redrive', '{}', '{"all": true}', rate, null, actor))
$$;
