create or replace function holdfast.enqueue(job text, payload jsonb, options jsonb default null) returns text
language sql as $$
  select holdfast.format_id('run', id)
  from holdfast_internal.accept_runs(job, array[coalesce(payload, 'null')::text], case when options is not null then array[options] end) as id
$$;
