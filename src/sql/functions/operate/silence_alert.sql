create or replace function holdfast_internal.silence_alert(alert_id bigint, until timestamptz, actor text, remark text) returns boolean
language plpgsql as $$
begin
  update holdfast_internal.alerts set silenced_until = until, note = coalesce(remark, note) where id = alert_id and state <> 'resolved';
  if not found then
    return false;
  end if;
  perform holdfast_internal.audit(actor, 'alert.silenced', 'alert:' || alert_id, jsonb_build_object('until', until, 'note', remark));
  return true;
end $$;
