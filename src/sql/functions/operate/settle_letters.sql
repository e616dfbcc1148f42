-- Settles these letters if they are open, and frees the ordering keys that they blocked. Returns how many it settled.
create or replace function holdfast_internal.settle_letters(letter_ids bigint[], new_state text, new_note text, new_action text, actor text) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  settled integer;
  freed text[];
begin
  with locked as materialized (
    select id from holdfast_internal.dead_letters where id = any (letter_ids) and state = 'open' order by id for update
  ), ended as (
    update holdfast_internal.dead_letters as letter set
      state = new_state, settled_at = clock_timestamp(), settled_by = actor, note = new_note, action = new_action
    where letter.id = any (array(select id from locked))
    returning letter.lane_id, letter.ordering_key, letter.blocks_key
  )
  select count(*), array_agg(distinct lane_id || ' free ' || ordering_key) filter (where blocks_key) into settled, freed from ended;
  perform holdfast_internal.tell_nodes('holdfast_lanes', each) from unnest(freed) as each;
  return settled;
end $$;
