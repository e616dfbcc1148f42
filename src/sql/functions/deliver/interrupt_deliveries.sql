-- Deliveries of these shards that a dead node had in flight, as it last recorded, and that are still pending: each attempt is recorded as interrupted. It doesn't count against
-- the retry policy, because its outcome is unknown. A result that arrives later replaces this record. Returns how many.
-- At most as many as a node records. Indexes: in_flight_pkey, deliveries_pkey.
create or replace function holdfast_internal.interrupt_deliveries(dead integer, shards integer[]) returns integer
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  dead_name text := (select name from holdfast_internal.nodes where incarnation = dead);
  interrupted integer;
begin
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, route_id, outcome, error_code, error)
  select owed.id, owed.message_id, noted.started_at, owed.attempt + 1, dead, owed.lane_id, owed.route_id, 6, 'interrupted', format(
    'Recovered from node %s, which died while this attempt was in flight. The receiver may have got it.', coalesce('"' || dead_name || '"', dead::text))
  from (
    select each.id, each.started_at from holdfast_internal.in_flight as note cross join unnest(note.ids, note.started_at) as each (id, started_at)
    where note.incarnation = dead order by each.id
  ) as noted
  cross join lateral (select * from holdfast_internal.deliveries as one where one.id = noted.id limit 1) as owed
  where (owed.lane_id & 255) = any (shards)
  on conflict do nothing;
  get diagnostics interrupted = row_count;
  return interrupted;
end $$;
