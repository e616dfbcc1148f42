-- A success for a run that is no longer pending: it resolves the letter that is open for it, also one of a failed redrive, and cancels
-- a redrive that has not started.
create or replace function holdfast_internal.settle_late_run_successes(run_ids bigint[]) returns void
language plpgsql as $$
declare
  letters bigint[];
begin
  -- By the message, which a run shares with all of its redrives. Indexes: attempts_pkey, dead_letters_message.
  letters := array(
    select letter.id from holdfast_internal.dead_letters as letter
    where letter.settled_at is null
      and letter.message_id = any (array(select done.message_id from holdfast_internal.attempts as done where done.delivery_id = any (run_ids)))
    order by letter.id for update
  );
  perform holdfast_internal.end_runs(array(
    select redriven.id from (
      select letter.redriven_delivery_id as id from holdfast_internal.dead_letters as letter
      where letter.id = any (letters) and letter.state = 'redriven' order by letter.redriven_delivery_id
    ) as redrive
    cross join lateral (
      select run.id from holdfast_internal.runs as run
      where run.id = redrive.id and run.attempt = 0 and run.due_at is not null and run.claim_id is null for update
    ) as redriven
  ));
  update holdfast_internal.dead_letters set state = 'resolved', settled_at = clock_timestamp(), settled_by = 'holdfast', action = 'late_success'
  where id = any (letters);
end $$;
