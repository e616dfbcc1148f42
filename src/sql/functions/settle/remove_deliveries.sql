-- Every delivery that ends without being delivered (dead letter, dropped, expired, cancelled, skipped by its route) is deleted here; one that was delivered is
-- deleted by remove_delivered, which is the hot path and needs no rows back. Returns the rows as they were; the caller records why they ended.
-- `ids` are sorted. The other arrays have the values that are expected for each id; null means any. A row with other values stays.
-- Looked up in arrays and not joined: see remove_delivered. Rows are locked in the order of their ids. Index: deliveries_pkey.
create or replace function holdfast_internal.remove_deliveries(ids bigint[], lanes integer[] default null, messages bigint[] default null, attempts integer[] default null)
returns setof holdfast_internal.deliveries
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query
    delete from holdfast_internal.deliveries as owed
    where owed.id = any (ids)
      and (lanes is null or owed.lane_id is not distinct from lanes[width_bucket(owed.id, ids)])
      and (messages is null or owed.message_id = messages[width_bucket(owed.id, ids)])
      and (attempts is null or owed.attempt = attempts[width_bucket(owed.id, ids)])
    returning owed.*;
end $$;
