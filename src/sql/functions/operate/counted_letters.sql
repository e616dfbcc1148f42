-- How many letters of each kind all lanes have, in no particular order. A kind may have several rows: add them up.
create or replace function holdfast_internal.counted_letters() returns setof holdfast_internal.letter_counts
language plpgsql stable set enable_seqscan = on set jit = off as $$
begin
  return query select * from holdfast_internal.letter_counts union all select * from holdfast_internal.letter_count_changes;
end $$;
