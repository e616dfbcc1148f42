-- Like sweep_zombies_v3, for nodes and workers of earlier versions.
create or replace function holdfast_internal.sweep_zombies(threshold_ms double precision, max_rows integer, me integer) returns integer
language sql as $$ select found_runs from holdfast_internal.sweep_zombies_v3(threshold_ms, max_rows, me) $$;
