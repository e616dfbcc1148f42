-- Searches the payloads of events before an id, the newest first: for `equals` at `path`, and for text that they contain. Stops when a page is full,
-- after `max_scanned` events, or after `max_ms`, and returns where the next call continues (null: there is no more). Event by event, so that
-- a large payload is read only while there is time left.
-- Indexes: messages_pkey, messages_kept_pkey; messages_correlation when asked by correlation id.
create or replace function holdfast_internal.search_events(
  filter jsonb, path text[], equals text, contained text, before_id bigint, max_rows integer, max_scanned integer, max_ms integer,
  out ids bigint[], out scanned integer, out scanned_to bigint
)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
declare
  asked record := holdfast_internal.event_conditions(filter);
  stop_at timestamptz := clock_timestamp() + make_interval(secs => max_ms / 1000.0);
  event record;
begin
  ids := '{}';
  scanned := 0;
  for event in execute format($query$
    select * from (
      (select id, body, %3$s as is_wanted from holdfast_internal.messages as message where %1$s order by %2$s limit $3)
      union all
      (select id, body, %3$s from holdfast_internal.messages_kept as message where %1$s order by %2$s limit $3)
    ) as every order by id desc
  $query$, asked.place, asked.ordered_by, asked.wide) using least(before_id, asked.to_id), max_rows, max_scanned + 1, asked.from_id
  loop
    -- A body may be stored twice for a moment, before its partition is dropped.
    continue when event.id = scanned_to;
    if scanned >= max_scanned or cardinality(ids) >= max_rows or (scanned > 0 and clock_timestamp() > stop_at) then
      return;
    end if;
    scanned := scanned + 1;
    scanned_to := event.id;
    if event.is_wanted and (contained is null or strpos(event.body::text, contained) > 0) and (path is null or case
      -- Only text with escapes can fail, and guarding against that costs 10 µs.
      when strpos(event.body::text, '\u') > 0 then holdfast_internal.payload_text(event.body, path) = equals
      else event.body #>> path = equals end) then
      ids := ids || event.id;
    end if;
  end loop;
  scanned_to := null;
end $$;
