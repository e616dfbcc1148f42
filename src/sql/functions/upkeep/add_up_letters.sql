-- Adds up the appended changes of the counts of dead letters, at most `max_rows` rows. Only one session does so at a time, and no other one
-- writes letter_counts, so that settling never waits for it. Returns how many rows it processed.
create or replace function holdfast_internal.add_up_letters(max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  taken integer;
  lanes integer[];
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.add_up_letters'));
  with taken as (
    delete from holdfast_internal.letter_count_changes where ctid = any (array(select ctid from holdfast_internal.letter_count_changes limit max_rows))
    returning *
  ), added as (
    insert into holdfast_internal.letter_counts as known
    select lane_id, fingerprint, state, is_settled, criticality, sum(letters) from taken group by 1, 2, 3, 4, 5
    on conflict (lane_id, fingerprint, state, is_settled, criticality) do update set letters = known.letters + excluded.letters
  )
  select count(*), array_agg(distinct lane_id) into taken, lanes from taken;
  -- Delete kinds that have no letters.
  delete from holdfast_internal.letter_counts where lane_id = any (lanes) and letters = 0;
  return taken;
end $$;
