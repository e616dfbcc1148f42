-- A contradiction between valid fields of a retry policy (or the policy of request()); null if there is none.
create or replace function holdfast_internal.retry_contradiction(policy jsonb, path text) returns text
language sql immutable as $$
  select case
    when (policy ->> 'baseDelayMs')::bigint > (policy ->> 'maxDelayMs')::bigint
      then format('%s.baseDelayMs must not exceed %s.maxDelayMs (%s)', path, path, policy ->> 'maxDelayMs')
    when policy ->> 'strategy' = 'schedule' and coalesce(policy -> 'delaysMs', '[]') = '[]'
      then format('%s.delaysMs must list at least one delay for the strategy "schedule"', path)
    when coalesce(policy ->> 'strategy', '') <> 'schedule' and coalesce(policy -> 'delaysMs', '[]') <> '[]'
      then format('%s.delaysMs needs the strategy "schedule"', path)
  end
$$;
