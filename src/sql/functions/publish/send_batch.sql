create or replace function holdfast.send_batch(endpoint text, payloads jsonb[], options jsonb default null) returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if payloads is null then
    raise exception 'payloads must be an array, not null' using errcode = 'HF002', hint = 'An empty one is ''{}''. Nothing was stored.';
  end if;
  if array_ndims(payloads) = 1 and array_position(payloads, null) is not null then
    raise exception 'payload % is null', array_position(payloads, null) - array_lower(payloads, 1) + 1
      using errcode = 'HF002', hint = 'JSON''s null is ''null''::jsonb. Nothing was stored.';
  end if;
  return query
  select holdfast.format_id('msg', id)
  from holdfast_internal.accept_messages(
    endpoint, payloads::text[], case when options is not null then array_fill(options, array[cardinality(payloads)]) end
  ) as id;
end $$;
