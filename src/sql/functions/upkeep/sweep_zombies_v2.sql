-- Like sweep_zombies_v3, for nodes and workers of the previous version.
create or replace function holdfast_internal.sweep_zombies_v2(
  threshold_ms double precision, max_rows integer, me integer, out found_runs integer, out buried integer, out interrupted integer
)
language sql as $$ select found_runs, buried, interrupted from holdfast_internal.sweep_zombies_v3(threshold_ms, max_rows, me) $$;
