create or replace function holdfast_internal.acknowledge_alert(alert_id bigint, actor text, remark text) returns boolean
language plpgsql as $$
begin
  update holdfast_internal.alerts set acknowledged_at = clock_timestamp(), acknowledged_by = actor, note = coalesce(remark, note)
  where id = alert_id and state <> 'resolved';
  if not found then
    return false;
  end if;
  perform holdfast_internal.audit(actor, 'alert.acknowledged', 'alert:' || alert_id, jsonb_build_object('note', remark));
  return true;
end $$;
