-- Called by the SDK: bodies are the lines of one text, see accept_lines. Returns the ids as one text, either as a list (`1,2,3`) or as a set of
-- ranges (`{[1,4)}`).
create or replace function holdfast_internal.accept_run_lines(job_name text, lines text, run_options jsonb[] default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select coalesce(array_to_string(ids, ','), run_set::text)
    from holdfast_internal.accept_run_bodies(job_name, string_to_array(lines, E'\n'), run_options)
  );
end $$;
