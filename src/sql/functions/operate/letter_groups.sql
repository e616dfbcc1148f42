-- Letters by what is wrong and where, the largest group first.
create or replace function holdfast_internal.letter_groups(filter jsonb, max_groups integer)
returns table (
  fingerprint text, lane_id integer, letters bigint, first_seen timestamptz, last_seen timestamptz, sample_id bigint
)
language plpgsql stable as $$
declare
  conditions record := holdfast_internal.letter_conditions(filter);
begin
  return query execute format($query$
    select letter.fingerprint, letter.lane_id, count(*), min(letter.created_at), max(letter.created_at), max(letter.id)
    from holdfast_internal.dead_letters as letter %s
    where %s and %s
    group by letter.fingerprint, letter.lane_id order by count(*) desc, max(letter.id) desc limit $1
  $query$, case when conditions.asks_message then holdfast_internal.message_join('letter') end, conditions.narrow, conditions.wide)
  using max_groups;
end $$;
