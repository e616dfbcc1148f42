-- Deletes the rates of keys that have started no run lately, a bounded number at a time: such a key may use its whole rate. Index: key_rates_paid.
create or replace function holdfast_internal.purge_key_rates(max_rows integer) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  purged integer := 0;
  spent record;
begin
  -- One by one, by the key: a row that a claim updates meanwhile is kept.
  for spent in
    select lane_id, key from holdfast_internal.key_rates where paid_until < now() - interval '1 minute' order by paid_until limit max_rows for update skip locked
  loop
    delete from holdfast_internal.key_rates where lane_id = spent.lane_id and key = spent.key;
    purged := purged + 1;
  end loop;
  return purged;
end $$;
