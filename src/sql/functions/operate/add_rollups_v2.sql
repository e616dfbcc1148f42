-- Adds a node's counts, per endpoint as in add_rollups, and for the whole installation:
-- [{stepSeconds, startsAtMs, attempts, successes, throttled, latencies}].
create or replace function holdfast_internal.add_rollups_v2(me integer, flush_number bigint, counted jsonb, site jsonb) returns boolean
language plpgsql as $$
begin
  if not holdfast_internal.add_rollups(me, flush_number, counted) then
    return false;
  end if;
  insert into holdfast_internal.site_rollups as known (step_seconds, starts_at, attempts, successes, throttled, latencies)
  select "stepSeconds", to_timestamp("startsAtMs" / 1000), attempts, successes, throttled, latencies
  from jsonb_to_recordset(site) as given (
    "stepSeconds" integer, "startsAtMs" double precision, attempts bigint, successes bigint, throttled bigint, latencies integer[]
  )
  order by 1, 2
  on conflict (step_seconds, starts_at) do update set
    attempts = known.attempts + excluded.attempts, successes = known.successes + excluded.successes,
    throttled = known.throttled + excluded.throttled, latencies = holdfast_internal.add_counts(known.latencies, excluded.latencies);
  return true;
end $$;
