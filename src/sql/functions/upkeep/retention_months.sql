-- How long a partitioned table keeps its rows: messages, or attempts.
create or replace function holdfast_internal.retention_months(parent text) returns integer
language sql stable as $$
  select coalesce(
    case parent when 'attempts' then nullif(holdfast_internal.setting_integer('attempts_retention_months'), 0) end,
    holdfast_internal.setting_integer('archive_retention_months')
  )::integer
$$;
