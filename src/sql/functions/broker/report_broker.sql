-- Stores a node's report about its connection to the broker; deletes reports of nodes that are gone.
create or replace function holdfast_internal.report_broker(me integer, node_name text, said jsonb) returns void
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into holdfast_internal.broker_reports (incarnation, node, report) values (me, node_name, said)
  on conflict (incarnation) do update set report = excluded.report, reported_at = clock_timestamp();
  delete from holdfast_internal.broker_reports as known
  where not exists (select from holdfast_internal.nodes as alive where alive.incarnation = known.incarnation);
end $$;
