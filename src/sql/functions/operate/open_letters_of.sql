-- How many letters of a lane are open. Indexes: letter_counts_pkey, letter_count_changes_lane.
create or replace function holdfast_internal.open_letters_of(lane integer) returns bigint
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (
    select coalesce(sum(counted.letters), 0)::bigint from (
      select state, letters from holdfast_internal.letter_counts where lane_id = lane
      union all select state, letters from holdfast_internal.letter_count_changes where lane_id = lane
    ) as counted where counted.state = 'open'
  );
end $$;
