-- How many rows an operation would touch now, and the moment to hand over to create_operation: then it touches these and no others.
create or replace function holdfast_internal.preview_operation(
  kind text, filter jsonb, options jsonb default '{}', seen_as_of text default null, out total bigint, out as_of text, out as_of_at timestamptz
)
language plpgsql as $$
declare
  reached bigint := 0;
begin
  perform holdfast_internal.check_operation(kind, filter, options);
  -- '<snapshot>@<epoch seconds>'
  if seen_as_of is not null and seen_as_of !~ '^[0-9]+:[0-9]+:[0-9,]*@[0-9.]+$' then
    raise exception 'asOf must be what a preview gave' using errcode = 'HF007';
  end if;
  as_of_at := coalesce(to_timestamp(split_part(seen_as_of, '@', 2)::double precision), clock_timestamp());
  as_of := coalesce(split_part(seen_as_of, '@', 1), pg_current_snapshot()::text);
  if kind = 'cancel_runs' then
    total := 0;
    while reached is not null loop
      select next.reached, total + cardinality(next.ids) into reached, total
      from holdfast_internal.next_runs(filter, as_of::pg_snapshot, reached, 5000, 5000) as next;
    end loop;
    as_of := as_of || '@' || extract(epoch from as_of_at);
    return;
  end if;
  execute format('select count(*) from (%s) as target', holdfast_internal.operation_targets(kind, filter, options))
  into total using as_of::pg_snapshot, holdfast_internal.id_at(as_of_at - interval '1 day'), 0::bigint, null::bigint, pg_snapshot_xmax(as_of::pg_snapshot)::text::bigint,
             age(pg_snapshot_xmin(as_of::pg_snapshot)::xid);
  as_of := as_of || '@' || extract(epoch from as_of_at);
end $$;
