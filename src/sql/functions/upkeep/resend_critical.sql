-- Redrives critical letters that are still open, as an operation; null if there are none, or the previous resend is still running.
create or replace function holdfast_internal.resend_critical(actor text default 'holdfast') returns bigint
language plpgsql as $$
begin
  if exists (select from holdfast_internal.operations where state in ('running', 'paused') and options ->> 'isResend' = 'true')
    or not exists (select from holdfast_internal.dead_letters where criticality = 2 and settled_at is null and state = 'open') then
    return null;
  end if;
  return holdfast_internal.create_operation('redrive', '{"criticality": "critical"}', '{"isResend": true}', null, null, actor);
end $$;
