-- A hash of the text as given: normalising it first takes as long as the rest of a claim. `prefix`: text that is hashed with the body, such as an
-- event's type.
create or replace function holdfast_internal.body_hash(prefix text, body text) returns text
language sql immutable as $$
  select to_hex(hashtextextended(prefix || body, 0))
$$;
