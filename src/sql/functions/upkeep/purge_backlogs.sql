-- Deletes rows past their retention, a bounded number at a time. Index: lane_backlogs_age.
create or replace function holdfast_internal.purge_backlogs(max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  purged integer := 0;
  removed integer;
  kept record;
begin
  for kept in select * from (values (60, interval '25 hours'), (3600, interval '35 days')) as given (step, age) loop
    delete from holdfast_internal.lane_backlogs where ctid = any (array(
      select ctid from holdfast_internal.lane_backlogs
      where step_seconds = kept.step and starts_at < now() - kept.age order by step_seconds, starts_at limit max_rows
    ));
    get diagnostics removed = row_count;
    purged := purged + removed;
  end loop;
  return purged;
end $$;
