-- Letters whose redrive was delivered: their state stays `redriven`, and the key that they blocked is free.
create or replace function holdfast_internal.settle_redriven(letter_ids bigint[]) returns void
language sql as $$
  update holdfast_internal.dead_letters set settled_at = clock_timestamp() where id = any (letter_ids) and state = 'redriven' and settled_at is null
$$;
