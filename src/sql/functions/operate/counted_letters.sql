-- How many letters there are of each kind, in one lane or in all. A kind may come in several rows: add them up.
-- Indexes: letter_counts_pkey, letter_count_changes_lane.
create or replace function holdfast_internal.counted_letters(only_lane integer default null)
returns setof holdfast_internal.letter_counts
language plpgsql stable as $$
begin
  if only_lane is null then
    return query select * from holdfast_internal.letter_counts union all select * from holdfast_internal.letter_count_changes;
  else
    return query select * from holdfast_internal.letter_counts as counted where counted.lane_id = only_lane
    union all select * from holdfast_internal.letter_count_changes as change where change.lane_id = only_lane;
  end if;
end $$;
