-- Stores a node's reports about the sources that it consumes. Deletes its reports about sources that it no longer names, and reports of nodes that
-- are gone.
create or replace function holdfast_internal.report_sources(me integer, node_name text, reports jsonb) returns void
language plpgsql set enable_seqscan = off set jit = off as $$
begin
  insert into holdfast_internal.source_reports as known
    (source_id, incarnation, node, state, error, since, received, published, rejected, unacknowledged)
  select said."sourceId", me, node_name, said.state, said.error, clock_timestamp() - make_interval(secs => said."sinceMs" / 1000), said.received, said.published, said.rejected, said.unacknowledged
  from jsonb_to_recordset(reports) as said (
    "sourceId" integer, state text, error text, "sinceMs" double precision, received bigint, published bigint, rejected bigint, unacknowledged integer)
  -- The source may have been deleted meanwhile.
  where exists (select from holdfast_internal.event_sources as source where source.id = said."sourceId")
  on conflict (source_id, incarnation) do update set node = excluded.node, state = excluded.state, error = excluded.error, since = excluded.since,
    received = excluded.received, published = excluded.published, rejected = excluded.rejected, unacknowledged = excluded.unacknowledged,
    reported_at = clock_timestamp();
  delete from holdfast_internal.source_reports as known
  where (known.incarnation = me and not exists (select from jsonb_array_elements(reports) as said where (said ->> 'sourceId')::integer = known.source_id))
     or not exists (select from holdfast_internal.nodes as alive where alive.incarnation = known.incarnation);
end $$;
