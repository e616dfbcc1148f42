-- What the SDK calls: bodies as lines of one text, see accept_lines. Numbers come back as one text, each by itself (`1,2,3`) or as a set (`{[1,4)}`).
create or replace function holdfast_internal.accept_run_lines(job_name text, lines text, run_options jsonb[] default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select coalesce(array_to_string(ids, ','), run_set::text)
    from holdfast_internal.accept_run_bodies(job_name, string_to_array(lines, E'\n'), run_options)
  );
end $$;
