-- A waiting run ends at once; a running one when its handler has heard of it. `outcome`: 'cancelled', 'requested', or null: it isn't owed. The id of a run that
-- is being redriven stands for its redrive: that is the id its handler knows.
create or replace function holdfast_internal.cancel_owed_run(run_id bigint, why text, out cancelled_id bigint, out outcome text, out holder integer)
language plpgsql as $$
declare
  max_tries constant integer := 200;
  tries integer := 0;
  lane integer;
  run holdfast_internal.runs;
begin
  -- The queue before the row, for claims and freed keys set rows aside under the queue's lock. But whoever settles has the row and may come for the
  -- queue: while he has it we let go of both and try again, a second long; then it is left to the server to find out who waits for whom.
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
      -- No claim may take it while we look.
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
  delete from holdfast_internal.runs where id = run_id;
  insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error_code, error)
  values (run_id, coalesce(run.message_id, run_id), now(), run.attempt + 1, 0, run.lane_id, 11, 'cancelled', why) on conflict do nothing;
  -- A redrive that was called off leaves its letter as it found it.
  update holdfast_internal.dead_letters set state = 'open', settled_by = null, action = null
  where id = run.dead_letter_id and state = 'redriven' and settled_at is null;
  if coalesce(run.ordering_key, run.concurrency_key) is not null then
    perform holdfast_internal.free_keys(array[run.lane_id], array[run.ordering_key], array[run.concurrency_key]);
  end if;
  outcome := 'cancelled';
end $$;
