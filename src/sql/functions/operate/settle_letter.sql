create or replace function holdfast_internal.settle_letter(dead_letter_id text, new_state text, new_note text, new_action text, actor text) returns void
language plpgsql as $$
declare
  letter record := holdfast_internal.letter_state(dead_letter_id);
begin
  if letter.state <> 'open' then
    raise exception 'dead letter % is already %', dead_letter_id, letter.state
      using errcode = 'HF009', hint = 'Only open dead letters can be resolved or discarded.';
  end if;
  perform holdfast_internal.settle_letters(array[letter.id], new_state, new_note, new_action, actor);
  perform holdfast_internal.audit(actor, 'dead_letter.' || new_state, dead_letter_id, jsonb_build_object('note', new_note, 'action', new_action));
end $$;
