create or replace function holdfast.enqueue_batch(job text, payloads jsonb[], options jsonb default null) returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if payloads is null then
    raise exception 'payloads must be an array, not null' using errcode = 'HF002', hint = 'An empty one is ''{}''. Nothing was stored.';
  end if;
  return query
  select holdfast.format_id('run', id)
  from holdfast_internal.accept_runs(
    job, payloads::text[], case when options is not null then array_fill(options, array[cardinality(payloads)]) end
  ) as id;
end $$;
