-- Creates one partition: built separately, then attached, because CREATE … PARTITION OF waits for every open publisher and makes all
-- others wait for itself. The caller sets a lock timeout; a partition that can't be attached now is retried later.
create or replace function holdfast_internal.create_partition(parent text, part text, from_id bigint, to_id bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  key text := case parent when 'messages' then 'id' else 'delivery_id' end;
begin
  execute format('create table if not exists holdfast_internal.%I (like holdfast_internal.%I including defaults including constraints)', part, parent);
  execute format('alter table holdfast_internal.%I drop constraint if exists partition_range', part);
  -- Autovacuum by number of rows: a tenth or a fifth of a partition that has grown for weeks would be millions of rows.
  execute format('alter table holdfast_internal.%I set (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000)', part);
  -- The check lets ATTACH skip its scan.
  execute format('alter table holdfast_internal.%I add constraint partition_range check (%I >= %s and %I < %s)', part, key, from_id, key, to_id);
  execute format('alter table holdfast_internal.%I attach partition holdfast_internal.%I for values from (%s) to (%s)', parent, part, from_id, to_id);
  execute format('alter table holdfast_internal.%I drop constraint partition_range', part);
end $$;
