-- A step of deleting a source. A source with rejected messages is deleted only if forced, and after them: each step deletes up to `max_rows` of them,
-- the last step also the source. `removed`: how many the steps before have deleted, for the audit log. `rejects`: how many this step found, or
-- deleted. No row: there is no such source. Indexes: event_sources_name_key, source_rejects_source.
create or replace function holdfast_internal.delete_source_v2(source_name text, is_forced boolean, actor text, max_rows integer, removed integer)
returns table (rejects integer, is_deleted boolean)
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  source integer;
begin
  -- A node that stores rejects waits for this lock, because of the foreign key, or has stored them before.
  select id into source from holdfast_internal.event_sources where name = source_name for update;
  if source is null then
    return;
  end if;
  if is_forced then
    delete from holdfast_internal.source_rejects where id = any (array(
      select reject.id from holdfast_internal.source_rejects as reject where reject.source_id = source order by reject.source_id, reject.id limit max_rows
    ));
    get diagnostics rejects = row_count;
  else
    rejects := (select count(*) from (select from holdfast_internal.source_rejects where source_id = source limit max_rows) as found);
  end if;
  is_deleted := not exists (select from holdfast_internal.source_rejects where source_id = source);
  if is_deleted then
    delete from holdfast_internal.event_sources where id = source;
    perform holdfast_internal.audit(actor, 'source.deleted', 'source:' || source_name, jsonb_build_object('rejects', removed + rejects));
    perform holdfast_internal.tell_nodes('holdfast_sources', source_name);
  end if;
  return next;
end $$;
