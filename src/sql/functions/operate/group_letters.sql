-- Letters grouped by error and endpoint, the largest group first. For endpoints, states and fingerprints there are complete counts; any other filter is
-- applied to the newest 10,000 letters that its index finds; if there are more, `is_complete` is false and the groups cover those only.
-- Indexes: letter_counts_pkey, dead_letters_group; see letter_conditions.
create or replace function holdfast_internal.group_letters(filter jsonb, max_groups integer)
returns table (
  fingerprint text, lane_id integer, letters bigint, first_seen timestamptz, last_seen timestamptz, sample_id bigint, is_complete boolean
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  max_scanned constant integer := 10000;
  conditions record := holdfast_internal.letter_conditions(filter);
begin
  if conditions.is_plain then
    return query
    with largest as materialized (
      select counted.fingerprint, counted.lane_id, sum(counted.letters)::bigint as letters
      from (
        select * from holdfast_internal.counted_letters() where conditions.lane is null
        union all select * from holdfast_internal.counted_letters_of(conditions.lane) where conditions.lane is not null
      ) as counted
      where (conditions.wanted_state is null or counted.state = conditions.wanted_state)
        and (conditions.wanted_fingerprint is null or counted.fingerprint = conditions.wanted_fingerprint)
      group by 1, 2 having sum(counted.letters) > 0 order by 3 desc, 2, 1 limit max_groups
    )
    select largest.fingerprint, largest.lane_id, largest.letters, oldest.created_at, newest.created_at, newest.id, true
    from largest
    cross join lateral (
      select found.id, found.created_at from unnest(array['discarded', 'erased', 'open', 'redriven', 'resolved']) as given (state)
      cross join lateral (
        select letter.id, letter.created_at from holdfast_internal.dead_letters as letter
        where letter.lane_id = largest.lane_id and letter.fingerprint = largest.fingerprint and letter.state = given.state
        order by letter.lane_id desc, letter.fingerprint desc, letter.state desc, letter.id desc limit 1
      ) as found
      where conditions.wanted_state is null or given.state = conditions.wanted_state
      order by found.id desc limit 1
    ) as newest
    cross join lateral (
      select found.id, found.created_at from unnest(array['discarded', 'erased', 'open', 'redriven', 'resolved']) as given (state)
      cross join lateral (
        select letter.id, letter.created_at from holdfast_internal.dead_letters as letter
        where letter.lane_id = largest.lane_id and letter.fingerprint = largest.fingerprint and letter.state = given.state
        order by letter.lane_id, letter.fingerprint, letter.state, letter.id limit 1
      ) as found
      where conditions.wanted_state is null or given.state = conditions.wanted_state
      order by found.id limit 1
    ) as oldest
    order by largest.letters desc, newest.id desc;
    return;
  end if;
  return query execute format($query$
    with scanned as materialized (%s)
    select letter.fingerprint, letter.lane_id, count(*), min(letter.created_at), max(letter.created_at), max(letter.id),
           (select count(*) from scanned) < $3
    from scanned as letter %s where %s
    group by letter.fingerprint, letter.lane_id order by count(*) desc, max(letter.id) desc limit $2
  $query$, conditions.source, case when conditions.asks_message then holdfast_internal.message_join('letter') end, conditions.everything)
  using 9223372036854775807, max_groups, max_scanned, holdfast_internal.id_at(coalesce((filter ->> 'from')::timestamptz, '2024-01-02Z') - interval '1 day');
end $$;
