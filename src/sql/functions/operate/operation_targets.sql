-- The next candidates of an operation of this kind, as a query (position, id, is_meant, reached): the rows after the cursor $3 in the order of one index, at
-- most $4 of them, and for each whether the filter matches it. `reached` is the position up to which everything was read, null if there is no more. $1 is the
-- snapshot, $2 an id so old that it was certainly visible then, $5 the snapshot's xmax, $6 the age of its xmin. Those of a replay have more columns: see replay_targets.
create or replace function holdfast_internal.operation_targets(kind text, filter jsonb, options jsonb) returns text
language plpgsql stable as $$
begin
  return case
    when kind in ('redrive', 'resolve', 'discard') then holdfast_internal.letter_targets(filter)
    when kind in ('retry', 'cancel') then holdfast_internal.owed_targets(kind, filter)
    else holdfast_internal.replay_targets(filter, options) end;
end $$;
