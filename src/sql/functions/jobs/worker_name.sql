-- The name of a current or past worker by its incarnation; null when it is no longer stored. Indexes: workers_pkey, past_workers_pkey.
create or replace function holdfast_internal.worker_name(wanted integer) returns text
language plpgsql stable cost 1 as $$
begin
  return coalesce((select name from holdfast_internal.workers where incarnation = wanted),
                  (select name from holdfast_internal.past_workers where incarnation = wanted));
end $$;
