-- How many letters of each kind a lane has. A kind may have several rows: add them up. Indexes: letter_counts_pkey, letter_count_changes_lane.
create or replace function holdfast_internal.counted_letters_of(lane integer) returns setof holdfast_internal.letter_counts
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select * from holdfast_internal.letter_counts as counted where counted.lane_id = lane
  union all select * from holdfast_internal.letter_count_changes as change where change.lane_id = lane;
end $$;
