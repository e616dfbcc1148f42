-- If a base delay and a cap contradict each other, the one that wasn't given is adjusted (src/core/endpoints/presets.ts does the same for the API).
create or replace function holdfast_internal.implied_delays(policy jsonb, said jsonb) returns jsonb
language sql immutable as $$
  select case
    when (policy ->> 'baseDelayMs')::bigint <= (policy ->> 'maxDelayMs')::bigint then '{}'
    when not said ? 'maxDelayMs' then jsonb_build_object('maxDelayMs', policy -> 'baseDelayMs')
    when not said ? 'baseDelayMs' then jsonb_build_object('baseDelayMs', policy -> 'maxDelayMs')
    else '{}'
  end
$$;
