-- The types of the newest `max_messages` messages, at most the 1,000 largest. Index: messages_pkey.
create or replace function holdfast_internal.recent_types(max_messages integer, out types jsonb, out scanned integer, out since timestamptz)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  with newest as materialized (
    select id, type, is_run, created_at from holdfast_internal.messages order by id desc limit max_messages
  ), counted as (
    select type, count(*) as events, max(created_at) as last_at from newest
    where not is_run and type is not null group by type order by count(*) desc, type limit 1000
  )
  select (select jsonb_agg(jsonb_build_object('type', type, 'count', events, 'lastSeenAt', last_at) order by events desc, type) from counted),
         (select count(*) from newest), (select min(created_at) from newest)
  into types, scanned, since;
end $$;
