-- For nodes of the previous version: all steps of delete_source_v2 in one call.
create or replace function holdfast_internal.delete_source(source_name text, is_forced boolean, actor text) returns table (rejects integer, is_deleted boolean)
language plpgsql as $$
declare
  total integer := 0;
begin
  loop
    select step.rejects, step.is_deleted into rejects, is_deleted from holdfast_internal.delete_source_v2(source_name, is_forced, actor, 10000, total) as step;
    if not found then
      return;
    end if;
    total := total + rejects;
    exit when is_deleted or not is_forced;
  end loop;
  rejects := total;
  return next;
end $$;
