-- Counts the events of minutes that are over and records how many deliveries are pending now. Publishing updates no counter, so messages are counted
-- here: the last two minutes each time, because a transaction may commit late, and of the hour before only minutes that have no count yet. Returns
-- how many minutes it counted. Indexes: messages_pkey, site_rollups_pkey.
create or replace function holdfast_internal.sample_site(max_minutes integer, max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  newest timestamptz := date_trunc('minute', now()) - interval '1 minute';
  owed bigint := (select sum(pending) from holdfast_internal.nodes where beat_at > clock_timestamp() - interval '10 seconds');
  minutes timestamptz[] := array(
    select past from generate_series(newest, newest - interval '59 minutes', interval '-1 minute') as past
    where past >= newest - interval '1 minute' or not exists (
      select from holdfast_internal.site_rollups as known
      where known.step_seconds = 60 and known.starts_at = past and known.accepted is not null)
    order by past desc limit max_minutes
  );
begin
  insert into holdfast_internal.site_rollups as known (step_seconds, starts_at, accepted, backlog)
  select 60, past, holdfast_internal.count_accepted(past, past + interval '1 minute', max_rows), case when past = newest then owed end
  from unnest(minutes) as past
  order by past
  on conflict (step_seconds, starts_at) do update set
    accepted = excluded.accepted, backlog = greatest(known.backlog, excluded.backlog);
  insert into holdfast_internal.site_rollups as known (step_seconds, starts_at, accepted, backlog)
  select longer.step, longer.begin, sum(each.accepted), max(each.backlog) from (
    select distinct step, date_bin(make_interval(secs => step), past, '2024-01-01 00:00:00Z') as begin
    from unnest(minutes) as past cross join (values (900), (3600)) as steps (step)
  ) as longer join holdfast_internal.site_rollups as each
    on each.step_seconds = 60 and each.starts_at >= longer.begin and each.starts_at < longer.begin + make_interval(secs => longer.step)
  group by 1, 2
  order by 1, 2
  on conflict (step_seconds, starts_at) do update set accepted = excluded.accepted, backlog = excluded.backlog;
  return cardinality(minutes);
end $$;
