-- Deletes the worker (`seen_beat`: only if its counter hasn't changed), and keeps its name for the runs it executed. Returns the name; null: there is no such worker.
create or replace function holdfast_internal.remove_worker(gone integer, seen_beat bigint default null) returns text
language plpgsql as $$
declare
  gone_name text;
begin
  with removed as (
    delete from holdfast_internal.workers where incarnation = gone and (seen_beat is null or beat = seen_beat) returning incarnation, name, host
  ), remembered as (
    insert into holdfast_internal.past_workers (incarnation, name, host) select removed.* from removed on conflict do nothing
  )
  select removed.name into gone_name from removed;
  return gone_name;
end $$;
