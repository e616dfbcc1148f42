-- Pause, resume, cancel. Waits for a step in progress; returns the state afterwards.
create or replace function holdfast.steer_operation(operation_id text, wanted text, actor text default current_user) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  op holdfast_internal.operations;
begin
  if wanted is null or wanted not in ('running', 'paused', 'cancelled') then
    raise exception 'the state of an operation can be set to running, paused or cancelled, not %', coalesce(wanted, 'null') using errcode = '22023';
  end if;
  select * into op from holdfast_internal.operations where id = holdfast.parse_id('op', operation_id) for update;
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
    raise exception 'operation % is already %', operation_id, op.state using errcode = 'HF011';
  end if;
  update holdfast_internal.operations set
    state = wanted, next_step_at = clock_timestamp(), failures = 0, waiting = null,
    error = case when wanted = 'running' then null else error end,
    finished_at = case when wanted = 'cancelled' then clock_timestamp() end
  where id = op.id;
  perform holdfast_internal.audit(actor, 'operation.' || case wanted when 'running' then 'resumed' else wanted end, operation_id,
                         jsonb_build_object('done', op.done, 'total', op.total));
  perform holdfast_internal.notify('holdfast_operations', '');
  return wanted;
end $$;
