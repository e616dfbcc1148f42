-- Does a bounded piece of an operation. Null: somebody else is at it, or it isn't running or due any more; else whether there is more.
create or replace function holdfast_internal.step_operation(operation_id bigint, node_name text, max_rows integer) returns boolean
language plpgsql as $$
declare
  op holdfast_internal.operations;
  batch integer;
  looked_at integer;
  last_position bigint;
  ids bigint[];
  touched integer;
  space record;
  has_more boolean;
begin
  select * into op from holdfast_internal.operations
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
    space := holdfast_internal.room_for(op);
    if space.obstacle is not null then
      update holdfast_internal.operations set waiting = space.obstacle, next_step_at = clock_timestamp() + interval '2 seconds', node = node_name
      where id = op.id;
      return true;
    end if;
    batch := least(batch, space.room);
  end if;
  if op.kind = 'replay' then
    select replayed.looked_at, replayed.last_position, cardinality(replayed.delivery_ids) into looked_at, last_position, touched
    from holdfast_internal.replay_rows(op.id, holdfast_internal.replay_targets(op.filter, op.options), op.as_of, op.as_of_at, op.cursor, batch) as replayed;
  elsif op.kind = 'cancel_runs' then
    -- Claims of a queue wait for a step: it is a short one.
    batch := least(batch, 200);
    select next.reached, next.ids into last_position, ids from holdfast_internal.next_runs(op.filter, op.as_of, op.cursor, batch, 5000) as next;
    touched := holdfast_internal.carry_out(op, ids);
    looked_at := case when last_position is null then 0 else batch end;
  else
    select batch_of.looked_at, batch_of.last_position, batch_of.ids into looked_at, last_position, ids
    from holdfast_internal.next_targets(holdfast_internal.operation_targets(op.kind, op.filter, op.options), op.as_of, 0, op.cursor, batch) as batch_of;
    touched := case when ids is null then 0 else holdfast_internal.carry_out(op, ids) end;
  end if;
  has_more := looked_at = batch;
  update holdfast_internal.operations set
    done = done + touched, cursor = coalesce(last_position, cursor), node = node_name, failures = 0, error = null, waiting = null,
    started_at = coalesce(started_at, clock_timestamp()),
    state = case when has_more then 'running' else 'succeeded' end,
    finished_at = case when has_more then null else clock_timestamp() end,
    skipped = case when has_more or op.filter ?| array['laneId', 'routeId'] then skipped else greatest(0, total - done - touched) end,
    -- What a deleted endpoint owed was only reported, not counted.
    total = case when has_more or not op.filter ?| array['laneId', 'routeId'] then total else done + touched end,
    -- A second that was missed (no node, a full queue) isn't caught up on.
    next_step_at = case when rate_per_second is null then clock_timestamp()
      else greatest(next_step_at, clock_timestamp() - interval '1 second') + make_interval(secs => batch / rate_per_second) end
  where id = op.id;
  if not has_more then
    perform holdfast_internal.audit(op.created_by, 'operation.succeeded', holdfast.format_id('op', op.id),
                           jsonb_build_object('kind', op.kind, 'total', op.total, 'done', op.done + touched));
  end if;
  return has_more;
end $$;
