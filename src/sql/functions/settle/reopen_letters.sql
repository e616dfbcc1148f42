-- Dead letters whose redrive ended without a result (cancelled, expired, dropped): they are open again, as they were before the redrive.
-- By id alone, and the state is checked after that: a plan that uses an index on the state would read all of it. Index: dead_letters_pkey.
create or replace function holdfast_internal.reopen_letters(letter_ids bigint[]) returns void
language sql as $$
  update holdfast_internal.dead_letters set state = 'open', settled_by = null, action = null
  where id = any (array(
    select letter.id
    from (select one.id, one.state, one.settled_at from holdfast_internal.dead_letters as one where one.id = any (letter_ids) offset 0) as letter
    where letter.state = 'redriven' and letter.settled_at is null
  ))
$$;
