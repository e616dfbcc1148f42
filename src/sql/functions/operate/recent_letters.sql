-- How many letters were created since an id, in these lanes (null: in all). Index: dead_letters_pkey.
create or replace function holdfast_internal.recent_letters(since_id bigint, lanes integer[]) returns bigint
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (
    select count(*) from (
      select letter.lane_id from holdfast_internal.dead_letters as letter where letter.id >= since_id order by letter.id offset 0
    ) as recent
    where lanes is null or recent.lane_id = any (lanes)
  );
end $$;
