-- Runs that have expired or were cancelled end without a letter; the letter of a cancelled redrive is open again.
create or replace function holdfast_internal.drop_runs(records jsonb, held bigint[]) returns void
language plpgsql as $$
declare
  ids constant bigint[] := array(select r.id from holdfast_internal.run_records(records) as r where r.action in ('expire', 'cancel') and r.id = any (held));
  letters bigint[];
begin
  if ids = '{}' then
    return;
  end if;
  letters := array(select ended.dead_letter_id from holdfast_internal.end_runs(ids) as ended where ended.dead_letter_id is not null);
  perform holdfast_internal.reopen_letters(letters);
  -- An attempt that was cancelled is recorded already. An ending without an attempt gets the number after the last attempt, so that the two can't
  -- collide.
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
  select r.id, r.message, now(), r.attempt + 1, 0, r.lane, case r.action when 'expire' then 10 else 11 end, r.reason, r.error
  from holdfast_internal.run_records(records) as r where r.id = any (ids) and not r."isTried"
  on conflict do nothing;
end $$;
