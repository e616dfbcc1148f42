-- How many letters there are of each kind in all lanes, read as they lie. A kind may come in several rows: add them up.
create or replace function holdfast_internal.counted_letters() returns setof holdfast_internal.letter_counts
language plpgsql stable set enable_seqscan = on set jit = off as $$
begin
  return query select * from holdfast_internal.letter_counts union all select * from holdfast_internal.letter_count_changes;
end $$;
