-- Stores the changes of incidents: [{id?, rule, kind, severity, subject, state, value, threshold, sinceMs, firedAtMs, clearSinceMs, noticedAtMs}]. A
-- pending incident that ended before it fired is deleted.
create or replace function holdfast_internal.write_alerts(changes jsonb) returns void
language plpgsql as $$
begin
  perform holdfast_internal.prepare_ids();
  delete from holdfast_internal.alerts where id in (
    select (change ->> 'id')::bigint from jsonb_array_elements(changes) as change where change ->> 'state' = 'forgotten'
  );
  update holdfast_internal.alerts as alert set
    state = change.state, value = change.value, threshold = change.threshold, severity = change.severity,
    fired_at = holdfast_internal.time_of_ms(change."firedAtMs"), clear_since = holdfast_internal.time_of_ms(change."clearSinceMs"),
    noticed_at = holdfast_internal.time_of_ms(change."noticedAtMs"),
    resolved_at = case change.state when 'resolved' then clock_timestamp() end
  from holdfast_internal.alert_changes(changes) as change
  where alert.id = change.id and change.state <> 'forgotten';
  insert into holdfast_internal.alerts (rule, kind, severity, subject, state, value, threshold, since, fired_at, noticed_at)
  select change.rule, change.kind, change.severity, change.subject, change.state, change.value, change.threshold,
         holdfast_internal.time_of_ms(change."sinceMs"), holdfast_internal.time_of_ms(change."firedAtMs"), holdfast_internal.time_of_ms(change."noticedAtMs")
  from holdfast_internal.alert_changes(changes) as change
  where change.id is null
  on conflict do nothing;
end $$;
