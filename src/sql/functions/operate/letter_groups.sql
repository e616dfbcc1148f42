-- Like group_letters, for nodes of the previous version.
create or replace function holdfast_internal.letter_groups(filter jsonb, max_groups integer)
returns table (
  fingerprint text, lane_id integer, letters bigint, first_seen timestamptz, last_seen timestamptz, sample_id bigint
)
language plpgsql stable as $$
begin
  return query
  select found.fingerprint, found.lane_id, found.letters, found.first_seen, found.last_seen, found.sample_id
  from holdfast_internal.group_letters(filter, max_groups) as found;
end $$;
