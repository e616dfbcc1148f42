-- The next runs that a bulk action affects, at most `max_rows`, newest first: those that match the filter, haven't ended, and existed in the snapshot `as_of`.
-- `after` and `reached` are positions: the highest id less the run's, so that they grow. `reached` is null when there is no more. Bounded as find_runs is.
create or replace function holdfast_internal.next_runs(
  filter jsonb, as_of pg_snapshot, after bigint, max_rows integer, max_looked integer, out reached bigint, out ids bigint[]
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  highest constant bigint := 9223372036854775807;
  found record;
begin
  select * into found from holdfast_internal.find_runs('{"state": "owed"}'::jsonb || jsonb_strip_nulls(filter), highest - after, max_rows, max_looked);
  reached := case when cardinality(found.ids) >= max_rows then highest - found.ids[cardinality(found.ids)]
                  when found.scanned_to is not null then highest - found.scanned_to end;
  -- A run with a row has the transaction that stored it; one without was stored together with its message.
  ids := array(
    select met.id from unnest(found.ids) with ordinality as met (id, place)
    left join lateral (select run.published_by from holdfast_internal.runs as run where run.id = met.id limit 1) as own on true
    left join lateral (select message.xmin as stored_by from holdfast_internal.messages as message where message.id = met.id limit 1) as body on true
    where case when own.published_by is not null then pg_visible_in_snapshot(own.published_by, as_of)
               else holdfast_internal.was_visible(body.stored_by, as_of, pg_snapshot_xmax(as_of)::text::bigint, age(pg_snapshot_xmin(as_of)::xid)) end
    order by met.place
  );
end $$;
