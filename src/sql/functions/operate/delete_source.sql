-- Deletes a source; one that has rejected messages only when that is forced, and then with them. No row: there is no such source.
create or replace function holdfast_internal.delete_source(source_name text, is_forced boolean, actor text) returns table (rejects integer, is_deleted boolean)
language plpgsql as $$
declare
  source integer;
begin
  select id into source from holdfast_internal.event_sources where name = source_name for update;
  if source is null then
    return;
  end if;
  rejects := (select count(*) from (select from holdfast_internal.source_rejects where source_id = source limit 10000) as found);
  is_deleted := is_forced or rejects = 0;
  if is_deleted then
    delete from holdfast_internal.source_rejects where source_id = source;
    delete from holdfast_internal.event_sources where id = source;
    perform holdfast_internal.audit(actor, 'source.deleted', 'source:' || source_name, jsonb_build_object('rejects', rejects));
    perform holdfast_internal.tell_nodes('holdfast_sources', source_name);
  end if;
  return next;
end $$;
