-- A retry policy overridden by the given fields. Fields that aren't given follow from those: a schedule implies its number of retries.
create or replace function holdfast_internal.retry_over(policy jsonb, said jsonb) returns jsonb
language sql immutable as $$
  select whole
    || case when whole ->> 'strategy' <> 'schedule' and not said ? 'delaysMs' then '{"delaysMs": []}'::jsonb else '{}' end
    || case when jsonb_array_length(said -> 'delaysMs') > 0 and not said ? 'maxRetries'
         then jsonb_build_object('maxRetries', jsonb_array_length(said -> 'delaysMs')) else '{}' end
    || holdfast_internal.implied_delays(whole, said)
  from (values (policy || said)) as over (whole)
$$;
