create or replace function holdfast.send(endpoint text, payload jsonb, options jsonb default null) returns text
language sql as $$
  select holdfast.format_id('msg', id)
  from holdfast_internal.accept_messages(
    endpoint, array[coalesce(payload, 'null')::text], case when options is not null then array[options] end
  ) as id
$$;
