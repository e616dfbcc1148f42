-- Finds ids that match a filter, newest first, in growing parts: a page that is full after the first part costs no more than that, and a
-- filter that matches hardly anything stops after `max_scanned` rows with `scanned_to`, from where the next call continues (null: there is no more).
-- `query` gets $1 the id to look below, $2 how many are wanted, $3 how many rows to read, $4 the lowest id, and returns the matches, newest
-- first, and `stopped_at`: everything from there up was read (null: everything there is).
-- The settings apply to `query` (and are why it runs in here): it is written for one index each, and a planner without statistics
-- must not choose another.
create or replace function holdfast_internal.look(
  query text, before_id bigint, from_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
declare
  piece integer := least(max_scanned, 4 * max_rows);
  scanned integer := 0;
  found_ids bigint[];
  below bigint := before_id;
begin
  ids := '{}';
  loop
    execute query into found_ids, scanned_to using below, max_rows - cardinality(ids), piece, from_id;
    ids := ids || found_ids;
    scanned := scanned + piece;
    exit when scanned_to is null or cardinality(ids) >= max_rows or (scanned >= max_scanned and scanned_to < below);
    -- A delivery with more attempts than the part has rows is read completely by a larger part.
    piece := case when scanned_to < below then least(4 * piece, max_scanned - scanned) else 4 * piece end;
    below := scanned_to;
  end loop;
end $$;
