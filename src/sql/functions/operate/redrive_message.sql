-- Redelivers one letter; returns its new delivery (`dlv_…`), or for a job its new run (`run_…`). If it is being redriven already, the existing
-- one is returned.
create or replace function holdfast.redrive_message(dead_letter_id text, actor text default current_user) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  letter record := holdfast_internal.letter_state(dead_letter_id);
  delivery bigint;
  prefix text;
begin
  actor := holdfast_internal.actor_of(actor);
  select case when exists (select from holdfast_internal.queues as queue where queue.id = stored.lane_id) then 'run' else 'dlv' end into prefix
  from holdfast_internal.dead_letters as stored where stored.id = letter.id;
  if letter.state = 'open' then
    select redriven.delivery_id into delivery from holdfast_internal.redrive_letters(array[letter.id], actor) as redriven;
    if delivery is null then
      raise exception 'the endpoint of dead letter % has been deleted', dead_letter_id
        using errcode = 'HF009', hint = 'Replay its message to another endpoint, or discard the dead letter.';
    end if;
    perform holdfast_internal.audit(actor, 'dead_letter.redriven', dead_letter_id,
                           jsonb_build_object('delivery', holdfast.format_id(prefix, delivery)));
  elsif letter.state = 'redriven' then
    select redriven_delivery_id into delivery from holdfast_internal.dead_letters where id = letter.id;
  else
    raise exception 'dead letter % is already %', dead_letter_id, letter.state
      using errcode = 'HF009', hint = 'Replay its message to send it again.';
  end if;
  return holdfast.format_id(prefix, delivery);
end $$;
