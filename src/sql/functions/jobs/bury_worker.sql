-- Like bury_worker_v3, for nodes and workers of earlier versions.
create or replace function holdfast_internal.bury_worker(dead integer, seen_beat bigint, me integer) returns integer
language sql as $$ select lost_runs from holdfast_internal.bury_worker_v3(dead, seen_beat, me) $$;
