create or replace function holdfast_internal.accept_runs(job_name text, bodies text[], run_options jsonb[] default null) returns setof bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query
  select id from holdfast_internal.accept_run_bodies(job_name, bodies, run_options) as accepted cross join lateral (
    select unnest(accepted.ids)
    union all
    select generate_series(lower(part), upper(part) - 1) from unnest(accepted.run_set) as part
  ) as each (id);
end $$;
