-- Whether the rate per key allows a waiting run to start now. `place`: its position among the candidates with its key, from 1: the candidates before it
-- use their share of the rate first. Index: key_rates_pkey.
create or replace function holdfast_internal.is_within_rate(
  lane integer, run_concurrency_key text, rate double precision, place bigint, looked_at timestamptz
) returns boolean
language plpgsql stable as $$
begin
  return greatest(holdfast_internal.key_starts_at(lane, run_concurrency_key, rate), looked_at - make_interval(secs => (greatest(rate, 1) - 1) / rate))
    + make_interval(secs => (place - 1) / rate) <= looked_at;
end $$;
