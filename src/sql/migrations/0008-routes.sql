-- Event types and routes: who hears of what, and in which shape.

create table holdfast.event_types (
  name text primary key check (length(name) <= 255 and name ~ '^[A-Za-z0-9_][A-Za-z0-9_-]*([.][A-Za-z0-9_-]+)*$'),
  description text,
  schema jsonb,
  criticality smallint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  changed_xid xid8 not null default pg_current_xact_id()
);
create index event_types_changed on holdfast.event_types (changed_xid);

create table holdfast.routes (
  id integer primary key generated always as identity,
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._:-]{0,126}$'),
  tenant text,
  event_type text not null,
  -- The pattern, compiled when the route is written: equality, or LIKE (with the number of segments where `*` stands for one), or, for
  -- patterns that mix `*` and `**`, a regular expression. PostgreSQL keeps 32 compiled expressions; a hundred would be compiled at
  -- every publish.
  exact_type text,
  like_pattern text,
  segments integer,
  regex text,
  filter jsonpath,
  filter_text text,
  transform jsonb,
  lane_id integer not null references holdfast.endpoints (id),
  criticality smallint,
  enabled boolean not null default true,
  -- Made from the endpoint's `eventTypes`; changes with them.
  is_shorthand boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  changed_xid xid8 not null default pg_current_xact_id(),
  check (num_nonnulls(exact_type, like_pattern, regex) = 1)
);
create index routes_exact on holdfast.routes (coalesce(tenant, ''), exact_type) where enabled and exact_type is not null;
create index routes_pattern on holdfast.routes (coalesce(tenant, '')) where enabled and exact_type is null;
create index routes_lane on holdfast.routes (lane_id);
create index routes_changed on holdfast.routes (changed_xid);

-- The routes that want an event of this kind, before their filters are asked. An event with a tenant reaches that tenant's only.
create function holdfast.matching_routes(wanted_type text, wanted_tenant text) returns setof holdfast.routes
language sql stable as $$
  select route.* from holdfast.routes as route
  where route.enabled and route.exact_type = wanted_type and coalesce(route.tenant, '') = coalesce(wanted_tenant, '')
  union all
  select route.* from holdfast.routes as route
  where route.enabled and route.exact_type is null and coalesce(route.tenant, '') = coalesce(wanted_tenant, '')
    and (
      (wanted_type like route.like_pattern
        and (route.segments is null or route.segments = length(wanted_type) - length(replace(wanted_type, '.', '')) + 1))
      or wanted_type ~ route.regex
    )
$$;

-- What nodes must hear of though no row shows it. NOTIFY tells those that listen at once; the others read it here with their next beat.
create table holdfast.notices (
  id bigint primary key generated always as identity,
  channel text not null,
  payload text not null,
  at timestamptz not null default now(),
  changed_xid xid8 not null default pg_current_xact_id()
);
create index notices_changed on holdfast.notices (changed_xid, id);

create function holdfast.tell_nodes(channel text, payload text) returns void
language sql as $$
  -- Beats are seconds apart: what is an hour old has been read, or its reader reads everything anew.
  delete from holdfast.notices where id in (
    select id from holdfast.notices where at < now() - interval '1 hour' order by id limit 100 for update skip locked
  );
  insert into holdfast.notices (channel, payload) values (channel, payload);
  select pg_notify(channel, payload)
$$;

-- Ends what is owed along a deleted route (to whichever endpoint it once led) or to a deleted endpoint, visibly.
create function holdfast.cancel_deliveries(lane integer, only_route integer, why text) returns bigint
language plpgsql as $$
declare
  cancelled bigint;
  lanes integer[];
begin
  with ended as (
    -- A scan for a route, which has no index of its own: publishing would pay for it, and deleting is rare.
    delete from holdfast.deliveries where (only_route is null and lane_id = lane) or route_id = only_route
    returning id, message_id, lane_id, route_id, attempt, dead_letter_id
  ), reopened as (
    -- A redrive that was called off leaves its letter as it found it.
    update holdfast.dead_letters set state = 'open', settled_by = null, action = null
    where id in (select dead_letter_id from ended) and state = 'redriven' and settled_at is null
  ), recorded as (
    insert into holdfast.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
    select id, message_id, clock_timestamp(), attempt + 1, 0, lane_id, route_id, 11, 'cancelled', why from ended
    on conflict do nothing
  )
  select count(*), array_agg(distinct lane_id) into cancelled, lanes from ended;
  -- Their owners count anew, and look for keys whose head has gone.
  perform holdfast.tell_nodes('holdfast_lanes', affected || ' recount') from unnest(lanes) as affected;
  return cancelled;
end $$;

-- What a person has set of a route, for the audit log.
create function holdfast.route_view(route holdfast.routes) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'tenant', route.tenant, 'eventType', route.event_type, 'filter', route.filter_text, 'transform', route.transform,
    'criticality', route.criticality, 'enabled', route.enabled, 'endpoint', (select name from holdfast.endpoints where id = route.lane_id)
  ) where route.name is not null
$$;

create function holdfast.delete_route(route_name text, force boolean default false, actor text default current_user) returns bigint
language plpgsql as $$
declare
  route holdfast.routes;
  cancelled bigint := 0;
begin
  select * into route from holdfast.routes where name = route_name for update;
  if not found then
    raise exception 'there is no route named "%"', route_name using errcode = 'HF005';
  end if;
  if exists (select from holdfast.deliveries where route_id = route.id) then
    if not force then
      raise exception 'route "%" still owes deliveries', route_name
        using errcode = 'HF006', hint = 'Disable it and let them drain, or delete it with force: then they end as cancelled.';
    end if;
    cancelled := holdfast.cancel_deliveries(route.lane_id, route.id, format('Route "%s" was deleted.', route_name));
  end if;
  delete from holdfast.routes where id = route.id;
  perform holdfast.audit(actor, 'route.deleted', 'route:' || route_name, jsonb_build_object('name', route_name, 'cancelled', cancelled));
  -- Nodes that hold deliveries of it in memory look again, and find that it is gone.
  perform holdfast.tell_nodes('holdfast_routes', route.id::text);
  return cancelled;
end $$;

create function holdfast.delete_endpoint(endpoint_name text, force boolean default false, actor text default current_user) returns bigint
language plpgsql as $$
declare
  lane integer;
  cancelled bigint := 0;
begin
  select id into lane from holdfast.endpoints where name = endpoint_name for update;
  if not found then
    raise exception 'there is no endpoint named "%"', endpoint_name using errcode = 'HF001';
  end if;
  if not force and exists (select from holdfast.routes where lane_id = lane and not is_shorthand) then
    raise exception 'routes still lead to endpoint "%"', endpoint_name
      using errcode = 'HF006', hint = 'Delete or redirect its routes first, or delete it with force.';
  end if;
  if exists (select from holdfast.deliveries where lane_id = lane) then
    if not force then
      raise exception 'endpoint "%" still owes deliveries', endpoint_name
        using errcode = 'HF006', hint = 'Let them drain, or delete it with force: then they end as cancelled.';
    end if;
    cancelled := holdfast.cancel_deliveries(lane, null, format('Endpoint "%s" was deleted.', endpoint_name));
  end if;
  delete from holdfast.routes where lane_id = lane;
  delete from holdfast.breakers where lane_id = lane;
  delete from holdfast.lane_stats where lane_id = lane;
  delete from holdfast.endpoints where id = lane;
  perform holdfast.audit(actor, 'endpoint.deleted', 'endpoint:' || endpoint_name, jsonb_build_object('name', endpoint_name, 'cancelled', cancelled));
  perform holdfast.tell_nodes('holdfast_lanes', lane::text);
  return cancelled;
end $$;
