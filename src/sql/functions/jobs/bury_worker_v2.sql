-- Like bury_worker_v3, for nodes and workers of the previous version.
create or replace function holdfast_internal.bury_worker_v2(
  dead integer, seen_beat bigint, me integer, out lost_runs integer, out buried integer, out interrupted integer
)
language sql as $$ select lost_runs, buried, interrupted from holdfast_internal.bury_worker_v3(dead, seen_beat, me) $$;
