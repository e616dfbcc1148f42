-- A separate function, because catching an error costs a subtransaction, which most messages don't need.
create or replace function holdfast_internal.time_problem(deliver_at text, expires_at text) returns text
language plpgsql stable as $$
declare
  advice constant text := 'deliverAt and expiresAt take a timestamp of the years 1 to 9999, such as 2030-01-31T12:00:00Z';
  -- The API shows no other years.
  first_time constant timestamptz := '0001-01-01T00:00:00Z';
  last_time constant timestamptz := '9999-12-31T23:59:59.999Z';
begin
  if deliver_at::timestamptz not between first_time and last_time or expires_at::timestamptz not between first_time and last_time then
    return advice;
  end if;
  return case when deliver_at::timestamptz >= expires_at::timestamptz then 'expiresAt must be later than deliverAt' end;
exception when others then
  return advice;
end $$;
