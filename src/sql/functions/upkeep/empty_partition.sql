create or replace function holdfast_internal.empty_partition(part text) returns void
language plpgsql as $$
declare
  retiring holdfast_internal.retiring_partitions := (select r from holdfast_internal.retiring_partitions as r where r.name = part);
begin
  if retiring.name is null then
    raise exception 'partition % is not marked for removal', part using errcode = '22023';
  end if;
  -- The table before its partition, as a migration that adds a column locks them.
  execute format('lock table only holdfast_internal.%I in access share mode', retiring.parent);
  -- From here on nothing reads the partition; bodies that are still needed have been copied.
  execute format('lock table holdfast_internal.%I in access exclusive mode', part);
  perform holdfast_internal.keep_needed(part);
  if retiring.parent = 'attempts' then
    create temporary table attempts_to_keep on commit drop as
    select tried.* from holdfast_internal.tried_and_owed(retiring.from_id, retiring.to_id) as owed (id)
    join holdfast_internal.attempts as tried on tried.delivery_id = owed.id;
  end if;
  execute format('truncate holdfast_internal.%I', part);
  if retiring.parent = 'attempts' then
    execute format('insert into holdfast_internal.%I select * from attempts_to_keep', part);
    drop table attempts_to_keep;
  end if;
end $$;
