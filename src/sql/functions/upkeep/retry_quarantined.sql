-- Retries results in quarantine: those that are due, or one by its id at once. A result that can be stored now leaves quarantine, and the owner of
-- its lane is notified to read the delivery again. The others wait twice as long, an hour at most. Returns how many left. Index: quarantine_due.
create or replace function holdfast_internal.retry_quarantined(max_rows integer, only_id bigint default null) returns integer
language plpgsql as $$
declare
  held record;
  settled integer := 0;
begin
  for held in
    select kept.id, kept.lane_id, kept.incarnation, (kept.record ->> 'record')::jsonb as result
    from holdfast_internal.quarantine as kept
    where case when only_id is null then kept.next_try_at <= clock_timestamp() else kept.id = only_id end
    order by kept.next_try_at limit max_rows for update skip locked
  loop
    begin
      perform holdfast_internal.settle_quarantined(held.incarnation, held.result);
      perform holdfast_internal.release_quarantined(held.id);
      settled := settled + 1;
    exception when others then
      update holdfast_internal.quarantine as kept set
        tries = kept.tries + 1, last_error = sqlerrm,
        next_try_at = clock_timestamp() + least(interval '1 hour', interval '30 seconds' * 2 ^ least(kept.tries, 10))
      where kept.id = held.id;
    end;
  end loop;
  return settled;
end $$;
