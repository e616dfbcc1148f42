create or replace function holdfast.enqueue(job text, payload jsonb, options jsonb default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return holdfast.format_id('run', ((holdfast_internal.accept_run_bodies(
    job, array[coalesce(payload, 'null')::text], case when options is not null then array[options] end)).ids)[1]);
end $$;
