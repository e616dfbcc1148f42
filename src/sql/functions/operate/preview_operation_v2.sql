-- How many rows an operation would affect now, and the snapshot to pass to create_operation: then it affects these and no others. Counted row by row
-- up to 10,000, and among as many rows as can be read in 25 ms (10,000 at least). If that isn't all, `is_exact` is false and `total` is the number
-- found so far, or that of existing counts.
create or replace function holdfast_internal.preview_operation_v2(
  kind text, filter jsonb, options jsonb, seen_as_of text, out total bigint, out is_exact boolean, out as_of text, out as_of_at timestamptz
)
language plpgsql as $$
declare
  max_counted constant integer := 10000;
  piece constant integer := 5000;
  started_at constant timestamptz := clock_timestamp();
  looked_at integer := 0;
  counted bigint;
  targets text;
  snapshot pg_snapshot;
  reached bigint := 0;
  found_ids bigint[];
begin
  perform holdfast_internal.check_operation(kind, filter, options);
  -- '<snapshot>@<epoch seconds>'
  begin
    as_of_at := coalesce(to_timestamp(split_part(seen_as_of, '@', 2)::double precision), clock_timestamp());
    snapshot := coalesce(split_part(seen_as_of, '@', 1)::pg_snapshot, pg_current_snapshot());
  exception when data_exception then
    snapshot := null;
  end;
  if snapshot is null or seen_as_of !~ '^[0-9]+:[0-9]+:[0-9,]*@[0-9.]+$' or pg_snapshot_xmax(snapshot) > pg_snapshot_xmax(pg_current_snapshot()) then
    raise exception 'asOf must be the value that a preview returned' using errcode = 'HF007';
  end if;
  as_of := snapshot || '@' || extract(epoch from as_of_at);
  targets := case when kind <> 'cancel_runs' then holdfast_internal.operation_targets(kind, filter, options) end;
  counted := holdfast_internal.counted_targets(kind, filter);
  -- With so many letters the existing count is enough.
  if kind in ('redrive', 'resolve', 'discard') and counted > 2 * max_counted then
    total := counted;
    is_exact := false;
    return;
  end if;
  total := 0;
  while reached is not null and total <= max_counted
    and (looked_at < max_counted or clock_timestamp() < started_at + interval '25 milliseconds')
  loop
    if kind = 'cancel_runs' then
      select next.reached, next.ids into reached, found_ids from holdfast_internal.next_runs(filter, snapshot, reached, piece, piece) as next;
    else
      select next.reached, next.ids into reached, found_ids
      from holdfast_internal.next_targets(targets, snapshot, holdfast_internal.id_at(as_of_at - interval '1 day'), reached, piece, piece) as next;
    end if;
    total := total + cardinality(found_ids);
    looked_at := looked_at + piece;
  end loop;
  is_exact := reached is null;
  if not is_exact then
    total := greatest(least(total, max_counted), counted);
  end if;
end $$;
