-- About how many events were accepted in a span of time, by the counts of minutes, quarters and hours; null if these don't reach back so far.
-- Index: site_rollups_pkey.
create or replace function holdfast_internal.count_site_events(since timestamptz, before timestamptz) returns bigint
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  age interval := now() - since;
  step integer := case when age <= interval '24 hours' then 60 when age <= interval '7 days' then 900 when age <= interval '34 days' then 3600 end;
begin
  return (
    select sum(accepted) from holdfast_internal.site_rollups
    where step_seconds = step and starts_at >= date_bin(make_interval(secs => step), since, '2024-01-01 00:00:00Z') and starts_at < before
  );
end $$;
