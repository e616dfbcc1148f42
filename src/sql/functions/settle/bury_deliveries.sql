-- Deliveries that can't succeed by themselves become dead letters with their whole history; a failed redrive reopens its letter.
create or replace function holdfast_internal.bury_deliveries(records jsonb, owned integer[]) returns integer
language plpgsql as $$
declare
  buried integer;
begin
  perform holdfast_internal.prepare_ids();
  with dead as (
    delete from holdfast_internal.deliveries as owed using holdfast_internal.failure_records(records) as r
    where owed.id = r.id and owed.lane_id + 0 = r.lane and owed.message_id = r.message and r.action = 'dead' and owed.attempt = r.expected
      and r.lane = any (owned)
    returning owed.id, owed.message_id, owed.lane_id, owed.route_id, owed.criticality, owed.priority, owed.variant, owed.replay_id, owed.ordering_key,
              owed.dead_letter_id, r.attempt, r.reason, r.outcome, r.status, r."errorCode" as error_code, r.error, r.detail,
              coalesce(r."blocksKey", false) as blocks_key
  ), history as (
    select dead.id, coalesce(jsonb_agg(jsonb_build_object(
      'deliveryId', past.delivery_id, 'attempt', past.attempt, 'at', past.started_at, 'durationMs', past.duration_ms, 'outcome', past.outcome,
      'status', past.status_code, 'isProbe', past.is_probe, 'errorCode', past.error_code, 'error', past.error
    ) order by past.attempt) filter (where past.attempt is not null), '[]') as attempts
    from dead left join holdfast_internal.attempts as past on past.delivery_id = dead.id
    group by dead.id
  ), reopened as (
    update holdfast_internal.dead_letters as letter set
      state = 'open', settled_at = null, settled_by = null, action = null, reason = dead.reason, outcome = dead.outcome, status_code = dead.status,
      error_code = dead.error_code, error = dead.error, attempt = letter.attempt + dead.attempt,
      attempts = letter.attempts || history.attempts, request = dead.detail -> 'request'
    from dead join history using (id)
    -- A letter that was resolved meanwhile, by a late success, stays so.
    where letter.id = dead.dead_letter_id and letter.state = 'redriven' and letter.settled_at is null
    returning letter.id
  )
  insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, route_id, reason, outcome, status_code, error_code, error,
                                     criticality, priority, variant, replay_id, attempt, attempts, request, ordering_key, blocks_key)
  select nextval('holdfast_internal.ids'), dead.id, dead.message_id, dead.lane_id, dead.route_id, dead.reason, dead.outcome, dead.status,
         dead.error_code, dead.error, dead.criticality, dead.priority, dead.variant, dead.replay_id, dead.attempt, history.attempts, dead.detail -> 'request',
         dead.ordering_key, dead.blocks_key
  from dead join history using (id)
  where dead.dead_letter_id is null or not exists (select from holdfast_internal.dead_letters as kept where kept.id = dead.dead_letter_id)
  on conflict (delivery_id) do nothing;
  get diagnostics buried = row_count;
  return buried;
end $$;
