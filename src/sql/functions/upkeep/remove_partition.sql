create or replace function holdfast_internal.remove_partition(part text) returns void
language plpgsql as $$
declare
  parent_name text := (select parent from holdfast_internal.retiring_partitions where name = part);
begin
  if parent_name is null then
    raise exception 'partition % is not marked for removal', part using errcode = '22023';
  end if;
  if to_regclass(format('holdfast_internal.%I', part)) is not null then
    execute format('alter table holdfast_internal.%I detach partition holdfast_internal.%I', parent_name, part);
    -- The attempts that were kept move to the default partition.
    if parent_name = 'attempts' then
      execute format('insert into holdfast_internal.attempts select * from holdfast_internal.%I', part);
    end if;
    execute format('drop table holdfast_internal.%I', part);
  end if;
  delete from holdfast_internal.retiring_partitions where name = part;
  delete from holdfast_internal.keeper_rounds where name = 'retire ' || part;
end $$;
