-- The time from which the rate per key allows one more run of a key. It has passed while the key has used less than one second's worth in advance.
-- Index: key_rates_pkey.
create or replace function holdfast_internal.key_starts_at(lane integer, run_key text, rate double precision) returns timestamptz
language plpgsql stable as $$
begin
  return coalesce(
    (
      select known.paid_until - make_interval(secs => (greatest(rate, 1) - 1) / rate)
      from holdfast_internal.key_rates as known where known.lane_id = lane and known.key = run_key
    ), '-infinity'
  );
end $$;
