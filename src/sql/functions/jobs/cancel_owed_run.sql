-- Cancels a run: a waiting one ends at once, a running one when its handler has been signalled. `outcome`: 'cancelled', 'requested', or null if the
-- run has ended. The id of a run that is being redriven stands for its redrive, because its handler knows that id.
create or replace function holdfast_internal.cancel_owed_run(run_id bigint, why text, out cancelled_id bigint, out outcome text, out holder integer)
language plpgsql as $$
declare
  max_tries constant integer := 200;
  tries integer := 0;
  lane integer;
  run holdfast_internal.runs;
begin
  -- Locks the queue before the row, because claims and free_keys set rows aside under the queue's lock. But a settling transaction holds the row and
  -- may wait for the queue: while the row is locked, both locks are released and tried again, for a second; after that the server's deadlock
  -- detection decides.
  loop
    select lane_id into lane from holdfast_internal.runs where id = run_id;
    if not found then
      lane := holdfast_internal.take_out(run_id);
    end if;
    if lane is null then
      select redrive.id into run.id from holdfast_internal.runs as redrive where redrive.message_id = run_id order by redrive.message_id limit 1;
      if run.id is not null then
        select redriven.cancelled_id, redriven.outcome, redriven.holder into cancelled_id, outcome, holder
        from holdfast_internal.cancel_owed_run(run.id, why) as redriven;
      end if;
      return;
    end if;
    tries := tries + 1;
    begin
      -- No claim may take the run meanwhile.
      perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
      if tries < max_tries then
        select * into run from holdfast_internal.runs where id = run_id for update nowait;
      else
        select * into run from holdfast_internal.runs where id = run_id for update;
      end if;
      exit;
    exception when lock_not_available then
      perform pg_sleep(0.005);
    end;
  end loop;
  if run.id is null then
    return;
  end if;
  cancelled_id := run_id;
  holder := holdfast_internal.holder_of_run(run_id);
  if holder is not null then
    insert into holdfast_internal.run_cancellations (run_id, worker, reason) values (cancel_owed_run.run_id, holder, why)
    on conflict on constraint run_cancellations_pkey do update set worker = holder, reason = why;
    perform holdfast_internal.notify('holdfast_worker_' || holder, '');
    outcome := 'requested';
    return;
  end if;
  perform holdfast_internal.end_runs(array[run_id]);
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
  values (run_id, coalesce(run.message_id, run_id), now(), run.attempt + 1, 0, run.lane_id, 11, 'cancelled', why) on conflict do nothing;
  perform holdfast_internal.reopen_letters(array[run.dead_letter_id]);
  outcome := 'cancelled';
end $$;
