-- For the view owed_runs. Security definer, because readers of a view need no rights on its tables, but on the tables that its functions read.
create or replace function holdfast_internal.all_bundled_runs() returns setof holdfast_internal.runs
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select * from holdfast_internal.bundled_runs(null, null, 9223372036854775807, 2147483647) $$;
