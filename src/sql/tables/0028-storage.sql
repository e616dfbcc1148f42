-- Indexes that hold an id behind another column. While their table is empty in the planner's eyes (a new one, or one that vacuum has found empty) they cost as much as
-- the index that begins with the id, and before PostgreSQL 18 the newest is taken: all of it was walked for one id. The predicate follows from no condition on the id.
drop index holdfast_internal.dead_letters_lane_delivery;
create index dead_letters_lane_delivery on holdfast_internal.dead_letters (lane_id, delivery_id) where lane_id is not null;
drop index holdfast_internal.dead_letters_lane_id;
create index dead_letters_lane_id on holdfast_internal.dead_letters (lane_id, id) where lane_id is not null;
drop index holdfast_internal.dead_letters_lane;
create index dead_letters_lane on holdfast_internal.dead_letters (lane_id, state, id) where lane_id is not null;
drop index holdfast_internal.dead_letters_group;
create index dead_letters_group on holdfast_internal.dead_letters (lane_id, fingerprint, state, id) where lane_id is not null;
drop index holdfast_internal.dead_letters_state;
create index dead_letters_state on holdfast_internal.dead_letters (state, id) where state is not null;
drop index holdfast_internal.dead_letters_fingerprint;
create index dead_letters_fingerprint on holdfast_internal.dead_letters (fingerprint, id) where fingerprint is not null;
drop index holdfast_internal.past_workers_name;
create index past_workers_name on holdfast_internal.past_workers (name, incarnation) where name is not null;
drop index holdfast_internal.endpoint_secrets_key;
create index endpoint_secrets_key on holdfast_internal.endpoint_secrets (key_id, lane_id, field, version) where key_id is not null;
drop index holdfast_internal.source_rejects_source;
create index source_rejects_source on holdfast_internal.source_rejects (source_id, id) where source_id is not null;

-- When autovacuum comes by: after so many rows, whatever the size of the table. A share of a backlog of a million is tens of thousands of dead rows, and a share of the
-- archive is millions. A vacuum of `deliveries` with half a million waiting and 10,000 dead takes 10 ms of processor time (docs/decisions/0035).
alter table holdfast_internal.deliveries set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
alter table holdfast_internal.runs set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
alter table holdfast_internal.idempotency_keys set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
alter table holdfast_internal.dead_letters set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
-- A few rows at a time, each of which lives for a moment.
alter table holdfast_internal.run_claims set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table holdfast_internal.run_bundles set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table holdfast_internal.queue_cursors set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
-- Parents take no parameters; later partitions get the same from create_partition.
do $$
declare
  part regclass;
begin
  for part in
    select inhrelid::regclass from pg_inherits where inhparent in ('holdfast_internal.messages'::regclass, 'holdfast_internal.attempts'::regclass)
  loop
    execute format('alter table %s set (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
      autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000)', part);
  end loop;
end $$;
