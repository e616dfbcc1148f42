-- A breakdown of the letters that an operation would affect, as of a snapshot that preview_operation_v2 returned: of the first 10,000, and of as many as can be
-- read in 25 ms (10,000 at least). Indexes: see letter_targets; dead_letters_pkey.
create or replace function holdfast_internal.letters_breakdown(
  filter jsonb, seen_as_of text, out critical bigint, out ordering_keys bigint, out oldest_at timestamptz, out looked_at bigint, out is_complete boolean
)
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  max_counted constant integer := 10000;
  piece constant integer := 2500;
  started_at constant timestamptz := clock_timestamp();
  targets constant text := holdfast_internal.letter_targets(filter);
  as_of_at constant timestamptz := to_timestamp(split_part(seen_as_of, '@', 2)::double precision);
  scanned integer := 0;
  reached bigint := 0;
  found_ids bigint[];
  ids bigint[] := '{}';
begin
  while reached is not null and cardinality(ids) < max_counted
    and (scanned < max_counted or clock_timestamp() < started_at + interval '25 milliseconds')
  loop
    select next.reached, next.ids into reached, found_ids
    from holdfast_internal.next_targets(
      targets, split_part(seen_as_of, '@', 1)::pg_snapshot, holdfast_internal.id_at(as_of_at - interval '1 day'), reached, piece, piece) as next;
    ids := ids || found_ids;
    scanned := scanned + piece;
  end loop;
  is_complete := reached is null;
  looked_at := cardinality(ids);
  select count(*) filter (where letter.criticality = 2), count(distinct letter.ordering_key), min(letter.created_at)
  into critical, ordering_keys, oldest_at
  from holdfast_internal.dead_letters as letter where letter.id = any (ids);
end $$;
