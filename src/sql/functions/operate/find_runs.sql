-- The newest runs before an id: {queue, job, state}. Candidates come from where a run of that state leaves a trace, and each is judged by its record.
create or replace function holdfast_internal.find_runs(
  filter jsonb, before_id bigint, max_rows integer, max_scanned integer, out ids bigint[], out scanned_to bigint
)
language plpgsql stable as $$
declare
  wanted_state text := filter ->> 'state';
  wanted_job text := filter ->> 'job';
  lanes integer[] := array(select id from holdfast_internal.queues where filter ->> 'queue' is null or name = filter ->> 'queue');
  job_id integer := (select id from holdfast_internal.jobs where name = wanted_job);
  line_limit text := format('greatest($2, $3 / %s)', greatest(cardinality(lanes), 1));
  is_owed boolean := wanted_state in ('scheduled', 'waiting', 'running');
  sources text[] := '{}';
  -- A run that has ended names its job in its message only.
  message_of_job text := case when wanted_job is not null then format('%s', holdfast_internal.message_join('one')) end;
  is_of_job text := case when wanted_job is not null then format('and message.type = %L', wanted_job) end;
begin
  -- runs_pkey: no index has a queue's runs, or a job's, by their age.
  if wanted_state is null or wanted_state in ('scheduled', 'waiting') then
    sources := sources || format($source$
      select 0 as line, run.id, run.lane_id = any (%L::integer[]) %s %s as is_candidate
      from holdfast_internal.runs as run where run.id < $1 and run.id >= $4 order by run.id desc limit $3
      $source$, lanes::text,
      case when wanted_job is not null then format('and run.job_id = %s', coalesce(job_id, -1)) end,
      case wanted_state when 'scheduled' then 'and run.due_at > now()' when 'waiting' then 'and (run.due_at is null or run.due_at <= now() or run.due_at = ''infinity'')' else '' end);
  end if;
  -- What workers hold, a few thousand at most.
  if wanted_state = 'running' then
    sources := sources || format($source$
      select 0 as line, held.id, true as is_candidate
      from holdfast_internal.run_claims as claim cross join lateral unnest(claim.run_ids) as held (id)
      where claim.lane_id = any (%L::integer[]) and held.id < $1 and held.id >= $4 order by held.id desc limit $3
      $source$, lanes::text);
  end if;
  if wanted_state is null or wanted_state in ('waiting', 'running') then
    sources := sources || format($source$
      select -1 as line, bundled.id, true as is_candidate
      from holdfast_internal.bundled_runs(%L::integer[], %s, $1, $3, $4) as bundled
      $source$, lanes::text, coalesce(job_id::text, 'null'));
  end if;
  -- attempts_lane, or attempts_failed: as pairs, so that no other index has this order.
  if not coalesce(is_owed, false) then
    sources := sources || format($source$
      select queue.id as line, one.delivery_id as id, %s %s as is_candidate
      from unnest(%L::integer[]) as queue (id) cross join lateral (
        select one.delivery_id, one.message_id, one.outcome, one.error_code from holdfast_internal.attempts as one
        where (one.lane_id, one.delivery_id) < (queue.id, $1) and (one.lane_id, one.delivery_id) >= (queue.id, $4) %s
        order by one.lane_id desc, one.delivery_id desc limit %s
      ) as one %s
      $source$,
      case wanted_state when 'succeeded' then 'one.outcome = 1' when 'cancelled' then 'one.outcome = 11' when 'expired' then 'one.outcome = 10'
        when 'failed' then 'one.outcome not in (10, 11)' when 'timed_out' then 'one.error_code = ''timed_out''' else 'true' end,
      is_of_job, lanes::text, case when wanted_state <> 'succeeded' then 'and one.outcome <> 1' end, line_limit, message_of_job);
  end if;
  -- dead_letters_lane_delivery.
  if wanted_state is null or wanted_state in ('failed', 'timed_out') then
    sources := sources || format($source$
      select -2 - queue.id as line, one.delivery_id as id, %s %s as is_candidate
      from unnest(%L::integer[]) as queue (id) cross join lateral (
        select one.delivery_id, one.message_id, one.reason from holdfast_internal.dead_letters as one
        where (one.lane_id, one.delivery_id) < (queue.id, $1) and (one.lane_id, one.delivery_id) >= (queue.id, $4)
        order by one.lane_id desc, one.delivery_id desc limit %s
      ) as one %s
      $source$, case wanted_state when 'timed_out' then 'one.reason = ''timed_out''' else 'true' end, is_of_job, lanes::text, line_limit, message_of_job);
  end if;
  select looked.ids, looked.scanned_to into ids, scanned_to from holdfast_internal.look(format($query$
    with scanned as materialized (%1$s), stop as materialized (
      -- A run whose attempts were cut apart is looked at again.
      select max(reached) as at from (
        select min(id) + 1 as reached from scanned group by line having count(*) >= case when line in (0, -1) then $3 else %2$s end
      ) as cut
    ), candidates as materialized (
      -- A judgement costs 0.2 ms.
      select distinct id from scanned where is_candidate and id >= coalesce((select at from stop), 0) order by id desc limit %4$s
    ), judged as materialized (
      -- The newest first, and no more than are wanted: a nested loop keeps their order.
      select candidate.id from candidates as candidate %3$s limit $2
    )
    select array(select id from judged order by id desc), greatest((select at from stop), (select min(id) from candidates having count(*) >= %4$s))
  $query$, (select string_agg(format('(%s)', source), ' union all ') from unnest(sources) as source), line_limit,
    case when coalesce(wanted_state, wanted_job) is not null then format(
      'cross join lateral holdfast_internal.describe_runs(array[candidate.id]) as run where %s',
      concat_ws(' and ', case when wanted_state is not null then format('run.state = %L', wanted_state) end,
                case when wanted_job is not null then format('run.job = %L', wanted_job) end)) end,
    case when coalesce(wanted_state, wanted_job) is null then 'greatest($2, $3)' else 'greatest($2, 200)' end),
    before_id, 0, max_rows, max_scanned) as looked;
end $$;
