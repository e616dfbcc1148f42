-- The newest runs before an id: {queue, job, state, worker, tag, correlationId, from, to}. Candidates are read from the table in which runs of that
-- state have a row; conditions on messages are checked for these; then describe_runs tells the state of each. State `owed`: runs that haven't ended.
create or replace function holdfast_internal.find_runs(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  wanted_state text := filter ->> 'state';
  wanted_job text := filter ->> 'job';
  wanted_worker text := filter ->> 'worker';
  wanted_tag text := filter ->> 'tag';
  from_id bigint := holdfast_internal.id_at((filter ->> 'from')::timestamptz);
  to_id bigint := case when filter ->> 'to' is null then 9223372036854775807 else holdfast_internal.id_at((filter ->> 'to')::timestamptz) end;
  lanes integer[] := array(select id from holdfast_internal.queues where filter ->> 'queue' is null or name = filter ->> 'queue');
  job_id integer := (select id from holdfast_internal.jobs where name = wanted_job);
  line_limit text := format('greatest($2, $3 / %s)', greatest(cardinality(lanes), 1));
  -- A run that waits has no worker.
  asks_waiting boolean := wanted_worker is null and coalesce(wanted_state in ('scheduled', 'waiting', 'owed'), true);
  asks_held boolean := wanted_state in ('running', 'owed') or (wanted_worker is not null and wanted_state is null);
  asks_ended boolean := coalesce(wanted_state not in ('scheduled', 'waiting', 'running', 'owed'), true);
  correlated bigint[] := case when filter ->> 'correlationId' is not null then holdfast_internal.correlated_messages(filter ->> 'correlationId') end;
  incarnations integer[];
  sources text[] := '{}';
  -- The job of a run that has ended is only in its message.
  message_of_job text := case when wanted_job is not null then format('%s', holdfast_internal.message_join('one')) end;
  is_of_job text := case when wanted_job is not null then format('and message.type = %L', wanted_job) end;
  of_message text := concat_ws(' and ',
    case when filter ->> 'correlationId' is not null then format('message.correlation_id = %L', filter ->> 'correlationId') end,
    case when wanted_tag is not null then format('(message.metadata -> ''tags'' ? %1$L or message.metadata -> ''requireTags'' ? %1$L)', wanted_tag) end);
  judgement text;
begin
  if wanted_worker is not null then
    incarnations := array(
      select incarnation from holdfast_internal.workers where name = wanted_worker
      union all
      (select incarnation from holdfast_internal.past_workers where name = wanted_worker order by name desc, incarnation desc limit 1000)
    );
  end if;
  if correlated is not null then
    sources := array[format($source$
      select 0 as line, known.id, known.id as message_id, true as is_candidate
      from unnest(%L::bigint[]) as known (id) where known.id < $1 and known.id >= $4 order by known.id desc limit $3
      $source$, holdfast_internal.runs_of_messages(correlated)::text)];
    of_message := null;
  else
    -- runs_pkey: no index has a queue's runs, or a job's, by their age.
    if asks_waiting then
      sources := sources || format($source$
        select 0 as line, run.id, coalesce(run.message_id, run.id) as message_id, run.lane_id = any (%L::integer[]) %s %s as is_candidate
        from holdfast_internal.runs as run where run.id < $1 and run.id >= $4 order by run.id desc limit $3
        $source$, lanes::text,
        case when wanted_job is not null then format('and run.job_id = %s', coalesce(job_id, -1)) end,
        case wanted_state when 'scheduled' then 'and run.due_at > now()' when 'waiting' then 'and (run.due_at is null or run.due_at <= now() or run.due_at = ''infinity'')' else '' end);
    elsif asks_held then
      -- Runs held by workers, a few thousand at most.
      sources := sources || format($source$
        select 0 as line, held.id, coalesce(run.message_id, held.id) as message_id, true as is_candidate
        from (
          select listed.id from holdfast_internal.run_claims as claim cross join lateral unnest(claim.run_ids) as listed (id)
          where claim.lane_id = any (%L::integer[]) and listed.id < $1 and listed.id >= $4 %s order by listed.id desc limit $3
        ) as held left join lateral (select one.message_id from holdfast_internal.runs as one where one.id = held.id limit 1) as run on true
        $source$, lanes::text,
        case when wanted_worker is not null then format('and claim.worker = any (%L::integer[])', incarnations::text) end);
    end if;
    if asks_waiting or asks_held then
      sources := sources || format($source$
        select -1 as line, bundled.id, bundled.id as message_id, true as is_candidate
        from holdfast_internal.bundled_runs(%L::integer[], %s, $1, $3, $4) as bundled
        $source$, lanes::text, coalesce(job_id::text, 'null'));
    end if;
    -- attempts_lane, or attempts_failed: as row comparisons, so that no other index has this order.
    if asks_ended then
      sources := sources || format($source$
        select queue.id as line, one.delivery_id as id, one.message_id, %s %s %s as is_candidate
        from unnest(%L::integer[]) as queue (id) cross join lateral (
          select one.delivery_id, one.message_id, one.outcome, one.error_code, one.incarnation from holdfast_internal.attempts as one
          where (one.lane_id, one.delivery_id) < (queue.id, $1) and (one.lane_id, one.delivery_id) >= (queue.id, $4) %s
          order by one.lane_id desc, one.delivery_id desc limit %s
        ) as one %s
        $source$,
        case wanted_state when 'succeeded' then 'one.outcome = 1' when 'cancelled' then 'one.outcome = 11' when 'expired' then 'one.outcome = 10'
          when 'failed' then 'one.outcome not in (10, 11)' when 'timed_out' then 'one.error_code = ''timed_out''' else 'true' end,
        is_of_job, case when wanted_worker is not null then format('and one.incarnation = any (%L::integer[])', incarnations::text) end,
        lanes::text, case when wanted_state <> 'succeeded' then 'and one.outcome <> 1' end, line_limit, message_of_job);
    end if;
    -- dead_letters_lane_delivery. A run that died before its first attempt has no worker.
    if coalesce(wanted_state in ('failed', 'timed_out'), true) and wanted_worker is null then
      sources := sources || format($source$
        select -2 - queue.id as line, one.delivery_id as id, one.message_id, %s %s as is_candidate
        from unnest(%L::integer[]) as queue (id) cross join lateral (
          select one.delivery_id, one.message_id, one.reason from holdfast_internal.dead_letters as one
          where (one.lane_id, one.delivery_id) < (queue.id, $1) and (one.lane_id, one.delivery_id) >= (queue.id, $4) and one.lane_id <= queue.id
          order by one.lane_id desc, one.delivery_id desc limit %s
        ) as one %s
        $source$, case wanted_state when 'timed_out' then 'one.reason = ''timed_out''' else 'true' end, is_of_job, lanes::text, line_limit, message_of_job);
    end if;
  end if;
  judgement := concat_ws(' and ',
    -- If only pending runs were read, they are pending, and of this job.
    case when wanted_state = 'owed' then case when correlated is not null then 'run.state in (''scheduled'', ''waiting'', ''running'')' end
         when wanted_state is not null then format('run.state = %L', wanted_state) end,
    case when wanted_job is not null and (asks_ended or correlated is not null) then format('run.job = %L', wanted_job) end,
    case when wanted_worker is not null then format('run.worker = %L', wanted_worker) end,
    case when correlated is not null then format('run.lane_id = any (%L::integer[])', lanes::text) end,
    case when correlated is not null and wanted_tag is not null then format($tagged$ exists (
      select from (
        select metadata from holdfast_internal.messages where id = run.message_id
        union all select metadata from holdfast_internal.messages_kept where id = run.message_id limit 1
      ) as message where message.metadata -> 'tags' ? %1$L or message.metadata -> 'requireTags' ? %1$L)$tagged$, wanted_tag) end);
  if sources = '{}' then
    ids := '{}';
    return;
  end if;
  select looked.ids, looked.scanned_to into ids, scanned_to from holdfast_internal.look(format($query$
    with scanned as materialized (%1$s), stop as materialized (
      -- A run whose attempts lie on both sides of the limit is read again.
      select max(reached) as at from (
        select min(id) + 1 as reached from scanned group by line having count(*) >= case when line in (0, -1) then $3 else %2$s end
      ) as cut
    ), candidates as materialized (
      -- Judging a run costs 0.2 ms.
      select distinct id from scanned where is_candidate and id >= coalesce((select at from stop), 0) %5$s order by id desc limit %4$s
    ), judged as materialized (
      -- The newest first, and no more than are wanted: a nested loop keeps their order.
      select candidate.id from candidates as candidate %3$s limit $2
    )
    select array(select id from judged order by id desc), greatest((select at from stop), (select min(id) from candidates having count(*) >= %4$s))
  $query$, (select string_agg(format('(%s)', source), ' union all ') from unnest(sources) as source), line_limit,
    case when judgement <> '' then format('cross join lateral holdfast_internal.describe_runs(array[candidate.id]) as run where %s', judgement) end,
    case when judgement = '' then 'greatest($2, $3)' else 'greatest($2, 200)' end,
    case when of_message <> '' then format($asked$ and exists (
      select from (
        select correlation_id, metadata from holdfast_internal.messages where id = scanned.message_id
        union all select correlation_id, metadata from holdfast_internal.messages_kept where id = scanned.message_id limit 1
      ) as message where %s)$asked$, of_message) end),
    least(before_id, to_id), from_id, max_rows, max_scanned) as looked;
end $$;
