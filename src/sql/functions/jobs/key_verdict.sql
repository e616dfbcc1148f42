-- Whether the concurrency key of a waiting run allows it to start: take, or park (until the key is free). `place`: its position among the candidates
-- with its key, from 1. Indexes: runs_concurrent, jobs_pkey, key_rates_pkey.
create or replace function holdfast_internal.key_verdict(
  lane integer, job integer, run_concurrency_key text, place bigint, looked_at timestamptz
) returns text
language plpgsql stable as $$
declare
  limits record;
begin
  select coalesce((known.settings ->> 'concurrencyPerKey')::integer, 1) as concurrency, (known.settings ->> 'ratePerSecondPerKey')::double precision as rate
  into limits from holdfast_internal.jobs as known where known.id = job;
  if place + (
    select count(*) from holdfast_internal.runs as other
    where other.concurrency_key = run_concurrency_key and other.lane_id = lane and other.claim_id is not null
  ) > coalesce(limits.concurrency, 1) then
    return 'park';
  end if;
  -- The candidates before it use their share of the rate first.
  if limits.rate is not null
    and greatest(holdfast_internal.key_starts_at(lane, run_concurrency_key, limits.rate), looked_at - make_interval(secs => (greatest(limits.rate, 1) - 1) / limits.rate))
      + make_interval(secs => (place - 1) / limits.rate) > looked_at then
    return 'park';
  end if;
  return 'take';
end $$;
