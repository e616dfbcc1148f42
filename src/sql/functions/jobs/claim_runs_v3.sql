-- Claims the next runs of a queue for a worker; a worker gets waiting runs in no other way. `handled`: the jobs that it has handlers for (null: all).
-- `max_bytes`: limit of the total size of their bodies; a single run is taken whatever its size. `max_chain`: how many runs of one ordering key may
-- be claimed, to be executed one after the other; `patience_ms`: for how long a run whose key this worker has in use stays where it is, instead of being
-- parked. `suspect_room`: how many runs that were in flight at a crash may be taken; `may_take_deadly`: whether one of them may have been in flight at
-- two crashes or more. `request`: the worker's number for this call, see return_claim.
--
-- Returns a row for each due run that was claimed, and a last row without an id. The last row has the fresh runs, as a few long texts instead of many
-- rows (which halves the cost of a claim on both sides; `fresh_run_keys` is a JSON array, null if none has an ordering key), the order in which to
-- execute all runs (`run_order`; null: as returned), and, if fewer runs than wanted were claimed, when to claim again (`wait_ms`) and which transactions the claim's snapshot saw. Each statement takes time even if it
-- finds nothing, so statements that an idle queue doesn't need are skipped.
create or replace function holdfast_internal.claim_runs_v3(
  me integer, lane integer, wanted integer, suspect_room integer, may_take_deadly boolean, request bigint, handled integer[], max_bytes bigint,
  max_chain integer, patience_ms double precision
)
returns table (
  claim bigint, id bigint, message_id bigint, job_id integer, attempt integer, crashes smallint, expires_at_ms double precision, body text,
  correlation_id text, headers jsonb, metadata jsonb, fresh_run_ids text, fresh_run_jobs text, fresh_run_expiries text, body_ids text,
  bodies text, body_extras jsonb, wait_ms double precision, xmin_seen bigint, next_seen bigint, run_order text, ordering_key text,
  fresh_run_keys text
)
language plpgsql as $$
#variable_conflict use_column
declare
  looked_at constant timestamptz := clock_timestamp();
  state record;
  allowed record;
  look record;
  gaps record;
  due record;
  own record;
  held record;
  ordered record;
  choice record;
  late integer := 0;
  fitting integer;
  is_cut boolean := false;
begin
  perform holdfast_internal.commit_durably();
  -- The worker's lock before the queue's, and both before anything is read.
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.incarnation'), me), pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
  select * into state from holdfast_internal.claim_state(me, lane, claim_runs_v3.request, handled);
  if state.worker_name is null then
    return;
  end if;
  select * into allowed from holdfast_internal.claim_room(lane, wanted, state.concurrency, state.rate_per_second, state.tokens, state.tokens_at, looked_at);
  if state.queue_state is distinct from 'active' or allowed.room <= 0 then
    wait_ms := case when state.queue_state = 'active' then allowed.limit_ms end;
    xmin_seen := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    next_seen := holdfast_internal.next_transaction(pg_current_snapshot());
    return next;
    return;
  end if;

  -- If some jobs or keys can't be claimed freely, more fresh runs are read, so that the cursor soon reaches the runs behind theirs.
  select * into look from holdfast_internal.look_for_runs(lane, state.cursors, state.floors,
    case when state.untakeable || state.limited = '{}' and not state.has_ordered then allowed.room else greatest(allowed.room, 1000) end,
    state.untakeable || state.limited);
  select * into own from holdfast_internal.job_rooms(lane, state.limited, state.job_tokens, looked_at);
  select * into gaps from holdfast_internal.ended_gaps(state.gap_xids, state.gap_ids, state.gap_floors, look.seen);
  if look.first_due_at <= looked_at or look.has_others or gaps.ended is not null then
    select * into due from holdfast_internal.look_for_due_runs(lane, wanted, suspect_room, may_take_deadly, state.untakeable, state.worker_name, state.worker_tags,
      state.floors, gaps.reset_floor, state.fair_after, max_chain, state.limited, own.rooms, looked_at);
  else
    select null::bigint[] as ids, null::text[] as verdicts, null::smallint[] as priorities, null::timestamptz[] as times, null::bigint[] as ages,
           null::text[] as turns, null::text[] as targets, null::integer[] as jobs, null::bigint[] as keyed_takes into due;
  end if;
  select * into held from holdfast_internal.hold_back(state.limited, own.rooms, due.ids, due.jobs, due.priorities, due.times, due.ages, due.turns, due.verdicts);
  due.verdicts := held.verdicts;
  if look.keys is not null or due.keyed_takes is not null then
    select * into ordered from holdfast_internal.judge_ordered_runs(lane, state.cursors[1], look.ids, look.priorities, look.keys, look.are_takeable, wanted,
      max_chain, array(select recent.id from holdfast_internal.run_claims as recent
                       where recent.worker = me and recent.claimed_at > looked_at - make_interval(secs => patience_ms / 1000)),
      due.ids, due.keyed_takes, due.verdicts);
    due.verdicts := ordered.due_verdicts;
  else
    select null::text[] as verdicts, false as has_unpacked, false as has_left into ordered;
  end if;
  if ordered.verdicts is null and look.are_takeable is not null then
    ordered.verdicts := array(select case when each then 'take' else 'aside' end from unnest(look.are_takeable) as each);
  end if;
  select * into choice from holdfast_internal.choose_runs(allowed.room, state.cursors, look.ids, look.priorities, ordered.verdicts,
    due.ids, due.verdicts, due.priorities, due.ages, due.turns);
  if choice.taken > 1 then
    fitting := holdfast_internal.count_fitting(choice.ranked, max_bytes);
    is_cut := fitting < choice.taken;
    if is_cut then
      select * into choice from holdfast_internal.choose_runs(fitting, state.cursors, look.ids, look.priorities, ordered.verdicts,
        due.ids, due.verdicts, due.priorities, due.ages, due.turns);
    end if;
  end if;
  if choice.taken = 0 and choice.parked is not null then
    choice.parked := choice.parked || holdfast_internal.park_behind(lane, choice.parked, looked_at);
  end if;

  -- Otherwise nothing is stored: the next claim starts from the same cursors and gaps.
  if choice.taken > 0 or gaps.ended is not null or coalesce(choice.aside, choice.parked) is not null or choice.cursors <> state.cursors then
    if gaps.ended is not null then
      select * into gaps from holdfast_internal.bring_late_runs(lane, gaps.ended, gaps.ended_id, gaps.reset_floor, gaps.kept_xids, gaps.kept_ids,
        gaps.kept_floors, state.cursors, looked_at);
      late := gaps.late;
    end if;
    claim := holdfast_internal.store_claim(me, lane, claim_runs_v3.request, look.ids, look.jobs, look.priorities, ordered.verdicts, look.bundles,
      look.keys, choice.cursors, choice.due_taken, choice.fresh_taken, choice.aside, choice.parked);
    if state.has_paced then
      perform holdfast_internal.pace_keys(lane, choice.due_taken, choice.parked, looked_at);
    end if;
    perform holdfast_internal.store_cursors(lane, state.seq, claim, choice.cursors,
      holdfast_internal.due_floors(wanted, due.ids, due.priorities, due.verdicts, due.times, choice.due_taken, gaps.reset_floor, looked_at),
      state.new_horizon, gaps.kept_xids, gaps.kept_ids, gaps.kept_floors, state.gap_xids, state.horizon, state.floors, look.seen, look.seen_next,
      allowed.tokens - choice.taken, looked_at,
      coalesce(holdfast_internal.last_turn(state.fair_after, due.ids, due.turns, choice.due_taken), state.fair_after),
      holdfast_internal.spend_tokens(state.limited, own.tokens, due.ids, due.jobs, choice.due_taken, looked_at));
    if choice.due_taken is not null then
      return query
      select due_run.claim_id, due_run.id, due_run.message_id, due_run.job_id, due_run.attempt, due_run.crashes, due_run.expires_at_ms, due_run.body,
             due_run.correlation_id, due_run.headers, due_run.metadata, null::text, null::text, null::text, null::text, null::text, null::jsonb, null::double precision, null::bigint, null::bigint, null::text, due_run.ordering_key,
             null::text
      from holdfast_internal.read_due_runs(claim, choice.due_taken) as due_run;
    end if;
    if choice.fresh_taken is not null then
      select fresh.ids, fresh.jobs, fresh.expiries, fresh.keys into fresh_run_ids, fresh_run_jobs, fresh_run_expiries, fresh_run_keys
      from holdfast_internal.read_fresh_runs(choice.fresh_taken, look.ids, look.jobs, look.expiries, look.keys) as fresh;
      select read.ids, read.texts, read.extras into body_ids, bodies, body_extras from holdfast_internal.read_bodies(choice.fresh_taken) as read;
      run_order := case when choice.due_taken is not null then array_to_string(choice.ranked, ',') end;
    end if;
  end if;
  if choice.taken < wanted then
    wait_ms := case
      when ordered.has_left then 5
      when late > 0 or coalesce(choice.aside, choice.parked) is not null or is_cut or ordered.has_unpacked then 0
      -- Other runs may wait behind those that a job's limit holds back.
      when choice.taken > 0 and held.short is not null then 0
      when choice.taken = allowed.room then allowed.limit_ms
      when look.has_others or look.first_due_at is not null then
        least(holdfast_internal.next_due_ms(lane, due.targets),
              (select min(job.limit_ms) from unnest(state.limited, own.rooms, own.limits_ms) as job (id, room, limit_ms)
               where job.room = 0 or job.id = any (held.short)))
    end;
    xmin_seen := pg_snapshot_xmin(look.seen)::text::bigint;
    next_seen := look.seen_next;
  end if;
  return next;
end $$;
