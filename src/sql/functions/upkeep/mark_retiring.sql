-- Marks the partitions whose whole range is older than their table's retention (or than `months`). Waits for redrives and replays in
-- progress: later ones see the mark, and copy the bodies that they need.
create or replace function holdfast_internal.mark_retiring(months integer default null) returns integer
language plpgsql as $$
declare
  marked integer;
begin
  if months is not null and months not between 1 and 1200 then
    raise exception 'retention must be 1 to 1200 months, not %', months using errcode = '22023';
  end if;
  perform pg_advisory_xact_lock(hashtext('holdfast.retire'));
  insert into holdfast_internal.retiring_partitions (name, parent, from_id, to_id)
  select part.name, kind.parent, part.from_id, part.to_id
  from unnest(array['messages', 'attempts']) as kind (parent)
  cross join lateral holdfast_internal.partition_ranges(kind.parent) as part
  where part.to_id <= holdfast_internal.id_at(now() - make_interval(months =>
    coalesce(months, holdfast_internal.retention_months(kind.parent))))
  on conflict do nothing;
  get diagnostics marked = row_count;
  return marked;
end $$;
