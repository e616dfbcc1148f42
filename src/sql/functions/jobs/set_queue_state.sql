create or replace function holdfast_internal.set_queue_state(queue_name text, new_state text, why text default null, actor text default current_user) returns text
language plpgsql as $$
declare
  lane integer;
begin
  if new_state not in ('active', 'paused') then
    raise exception 'the state of a queue must be active or paused, not %', new_state using errcode = '22023';
  end if;
  update holdfast_internal.queues set state = new_state, state_reason = why, updated_at = clock_timestamp()
  where name = queue_name returning id into lane;
  if not found then
    raise exception 'there is no queue named "%"', queue_name using errcode = 'HF031', hint = 'List them with: holdfast queues list';
  end if;
  perform holdfast_internal.audit(actor, 'queue.' || new_state, 'queue:' || queue_name, jsonb_build_object('name', queue_name, 'reason', why));
  perform holdfast_internal.notify('holdfast_queue_' || lane, '');
  return new_state;
end $$;
