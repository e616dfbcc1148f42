-- A separate function, because catching an error costs a subtransaction, which most messages don't need.
create or replace function holdfast_internal.time_problem(deliver_at text, expires_at text) returns text
language plpgsql stable as $$
declare
  advice constant text := 'deliverAt and expiresAt take a timestamp such as 2030-01-31T12:00:00Z';
begin
  if not isfinite(deliver_at::timestamptz) or not isfinite(expires_at::timestamptz) then
    return advice;
  end if;
  return case when deliver_at::timestamptz >= expires_at::timestamptz then 'expiresAt must be later than deliverAt' end;
exception when others then
  return advice;
end $$;
