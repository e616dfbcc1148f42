-- Executes one bounded step of an operation. Returns null if another session is working on it or it is no longer running or due; otherwise whether
-- there is more.
create or replace function holdfast_internal.step_operation(operation_id bigint, node_name text, max_rows integer) returns boolean
language plpgsql as $$
declare
  op holdfast_internal.operations;
  max_touched integer;
  max_looked integer;
  reached bigint;
  ids bigint[];
  touched integer;
  space record;
begin
  select * into op from holdfast_internal.operations
  where id = operation_id and state = 'running' and next_step_at <= clock_timestamp() for update skip locked;
  if not found then
    return null;
  end if;
  -- A replay changes no existing rows, so a longer step blocks no other session; fewer steps mean fewer plans and commits.
  if op.kind = 'replay' then
    max_rows := 4 * max_rows;
  end if;
  -- At a given rate, about a quarter of a second's worth at a time. It reads more candidates than that, because its filter may match few of them.
  max_touched := case when op.rate_per_second is null then max_rows else least(max_rows, greatest(1, ceil(op.rate_per_second / 4))) end;
  max_looked := greatest(max_touched, least(max_rows, 500));
  if op.kind in ('redrive', 'replay') then
    space := holdfast_internal.room_for(op);
    if space.obstacle is not null then
      update holdfast_internal.operations set waiting = space.obstacle, next_step_at = clock_timestamp() + interval '2 seconds', node = node_name
      where id = op.id;
      return true;
    end if;
    max_touched := least(max_touched, space.room);
  end if;
  if op.kind = 'replay' then
    select replayed.reached, cardinality(replayed.delivery_ids) into reached, touched
    from holdfast_internal.replay_rows(op.id, holdfast_internal.replay_targets(op.filter, op.options), op.as_of, op.as_of_at, op.cursor, max_touched, max_looked) as replayed;
  elsif op.kind = 'cancel_runs' then
    -- Claims of a queue wait for a step, so it is short.
    select next.reached, next.ids into reached, ids from holdfast_internal.next_runs(op.filter, op.as_of, op.cursor, least(max_touched, 200), 5000) as next;
    touched := holdfast_internal.carry_out(op, ids);
  else
    select next.reached, next.ids into reached, ids
    from holdfast_internal.next_targets(
      holdfast_internal.operation_targets(op.kind, op.filter, op.options), op.as_of, 0, op.cursor, max_touched, max_looked) as next;
    touched := case when ids = '{}' then 0 else holdfast_internal.carry_out(op, ids) end;
  end if;
  update holdfast_internal.operations set
    done = done + touched, cursor = coalesce(reached, cursor), node = node_name, failures = 0, error = null, waiting = null,
    started_at = coalesce(started_at, clock_timestamp()),
    state = case when reached is null then 'succeeded' else 'running' end,
    finished_at = case when reached is null then clock_timestamp() end,
    skipped = case when reached is null and is_total_exact then greatest(0, total - done - touched) else skipped end,
    -- The total, if it wasn't counted completely before, is known now.
    total = case when is_total_exact then total when reached is null then done + touched else greatest(total, done + touched) end,
    is_total_exact = is_total_exact or reached is null,
    -- A missed second (no node, a full queue) isn't caught up.
    next_step_at = case when rate_per_second is null then clock_timestamp()
      else greatest(next_step_at, clock_timestamp() - interval '1 second') + make_interval(secs => touched / rate_per_second) end
  where id = op.id;
  if reached is null then
    perform holdfast_internal.audit(op.created_by, 'operation.succeeded', holdfast.format_id('op', op.id),
                           jsonb_build_object('kind', op.kind, 'total', case when op.is_total_exact then op.total else op.done + touched end, 'done', op.done + touched));
  end if;
  return reached is not null;
end $$;
