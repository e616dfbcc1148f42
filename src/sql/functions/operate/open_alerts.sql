-- Open incidents. Index: alerts_open.
create or replace function holdfast_internal.open_alerts(max_rows integer) returns setof holdfast_internal.alerts
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query select * from holdfast_internal.alerts as alert where alert.state <> 'resolved' order by alert.rule, alert.subject limit max_rows;
end $$;
