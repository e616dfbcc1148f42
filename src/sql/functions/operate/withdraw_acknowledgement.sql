-- Withdraws an acknowledgement: reminders are sent again.
create or replace function holdfast_internal.withdraw_acknowledgement(alert_id bigint, actor text) returns boolean
language plpgsql as $$
begin
  update holdfast_internal.alerts set acknowledged_at = null, acknowledged_by = null
  where id = alert_id and state <> 'resolved' and acknowledged_at is not null;
  if not found then
    return exists (select from holdfast_internal.alerts where id = alert_id and state <> 'resolved');
  end if;
  perform holdfast_internal.audit(actor, 'alert.acknowledgement_withdrawn', 'alert:' || alert_id, '{}');
  return true;
end $$;
