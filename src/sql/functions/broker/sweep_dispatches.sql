-- A recovery sweep: dispatches that the broker did not confirm within 30 s are returned, and those that have not started by their TTL and 60 s are
-- ended as expired, once everything that workers published before that time has been handled: the message of a start may have waited in the results
-- queue. Returns how many messages. Index: run_claims_dispatched.
create or replace function holdfast_internal.sweep_dispatches(max_rows integer, me integer, out unpublished integer, out overdue integer)
language plpgsql as $$
declare
  tokens bigint[];
  ids bigint[];
  reasons text[];
  handled_through constant timestamptz := (select results_through from holdfast_internal.broker_state);
begin
  select array_agg(late.id), array_agg(late.run_id), array_agg(late.reason) into tokens, ids, reasons from (
    select claim.id, coalesce(claim.run_ids[1], lower(claim.bundled)) as run_id, case when claim.published_at is null then 'unpublished' else 'expired' end as reason
    from holdfast_internal.run_claims as claim
    where claim.worker = 0 and ((claim.published_at is null and claim.claimed_at < clock_timestamp() - interval '30 seconds')
      or claim.unstarted_until < handled_through - interval '60 seconds')
    order by claim.id limit max_rows
  ) as late;
  unpublished := (select count(*) from unnest(reasons) as reason where reason = 'unpublished');
  overdue := coalesce(cardinality(ids), 0) - unpublished;
  if ids is not null then
    perform holdfast_internal.end_dispatches(ids, tokens, reasons, '{}', me);
  end if;
end $$;
