-- Removes unique keys whose run has ended; keys of runs that wait for months don't block it, because the next call continues where this one
-- ends. Returns how many it removed. Indexes: idempotency_keys_held, runs_pkey.
create or replace function holdfast_internal.clear_unique_keys(max_rows integer) returns integer
language plpgsql as $$
declare
  start bigint := coalesce((select position from holdfast_internal.keeper_rounds where name = 'unique_keys'), 0);
  reached bigint;
  ended bigint[];
  cleared integer;
begin
  with held as materialized (
    select (result ->> 0)::bigint as run from holdfast_internal.idempotency_keys
    where expires_at = 'infinity' and (result ->> 0)::bigint > start order by (result ->> 0)::bigint limit max_rows
  )
  select case when count(*) = max_rows then max(held.run) else 0 end,
         array_agg(held.run) filter (where not exists (select from holdfast_internal.runs where id = held.run))
  into reached, ended from held;
  perform holdfast_internal.keep_position('unique_keys', reached);
  delete from holdfast_internal.idempotency_keys where expires_at = 'infinity' and (result ->> 0)::bigint = any (ended);
  get diagnostics cleared = row_count;
  return cleared;
end $$;
