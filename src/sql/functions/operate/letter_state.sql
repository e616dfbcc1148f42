create or replace function holdfast_internal.letter_state(dead_letter_id text, out id bigint, out state text)
language plpgsql as $$
begin
  id := holdfast.parse_id('dlt', dead_letter_id);
  select letter.state into state from holdfast_internal.dead_letters as letter where letter.id = letter_state.id for update;
  if not found then
    raise exception 'there is no dead letter %', dead_letter_id using errcode = 'HF008';
  end if;
end $$;
