-- Runs that are due, set aside for their job, or waiting by a fair key, with a verdict for each: take, park (until its key is free), aside (until a
-- worker may take runs of its job), or leave. Rows that another transaction has locked are skipped until the next claim.
-- `ages`: since when each run waits, on the scale of ids (age_at); `times`: its time among the due runs, null if it waits elsewhere; `turns`: its
-- fair key; `jobs`: its job; `keyed_takes`: those with ordering keys that can be taken. `limited`, `rooms`: jobs with limits of their own, and how many
-- more runs of each these allow.
-- Indexes: see due_candidates; runs_ordered, runs_ordered_out, runs_concurrent, jobs_pkey.
create or replace function holdfast_internal.look_for_due_runs(
  lane integer, wanted integer, suspect_room integer, may_take_deadly boolean, untakeable integer[], worker_name text, worker_tags text[],
  floors timestamptz[], reset_floor timestamptz, fair_after text, max_chain integer, limited integer[], rooms integer[],
  looked_at timestamptz, out ids bigint[], out verdicts text[], out priorities smallint[], out times timestamptz[], out ages bigint[], out turns text[], out targets text[], out jobs integer[],
  out keyed_takes bigint[]
)
language plpgsql as $$
declare
  -- How many candidates have to be left where they are because of a later run of their key. Others are read in their place.
  in_the_way integer := 0;
  found_in_the_way integer;
begin
  if exists (select from holdfast_internal.runs as run where run.lane_id = lane and run.target is not null) then
    targets := holdfast_internal.fitting_targets(lane, worker_name, worker_tags);
  end if;
  perform holdfast_internal.join_fair_lines(lane, looked_at);
  loop
    with judged as materialized (
      select waiting.id, waiting.job_id, waiting.priority, waiting.due_at, waiting.ordering_key, waiting.fair_key,
             waiting.crashes = 0 and waiting.target is null as is_plain,
             -- Ids are up to 5 s behind the clock. A new run that has a due time only because of its key or target has the age of its id, like plain
             -- runs.
             case when waiting.due_at = 'infinity' then waiting.id
                  when waiting.attempt = 0 and (waiting.concurrency_key is not null or waiting.target is not null)
                    and holdfast_internal.age_at(waiting.due_at) - waiting.id < 4096 * 5000 then waiting.id
                  else holdfast_internal.age_at(waiting.due_at) end as age,
             case when waiting.job_id = any (untakeable) then 'aside'
                  when waiting.ordering_key is not null then case
                    -- Not `exists`: the planner may execute that as a hashed subplan, which reads every run with a key.
                    when (
                      select true from holdfast_internal.runs as older
                      where older.ordering_key = waiting.ordering_key and older.lane_id = lane and older.id < waiting.id limit 1
                    ) then 'park'
                    -- It was committed after a later run of its key, which is in flight.
                    when (
                      select true from holdfast_internal.runs as later
                      where later.ordering_key = waiting.ordering_key and later.lane_id = lane and later.claim_id is not null limit 1
                    ) then 'leave'
                    else 'take' end
                  when waiting.concurrency_key is null then 'take'
                  when row_number() over same_key + (
                    select count(*) from holdfast_internal.runs as other
                    where other.concurrency_key = waiting.concurrency_key and other.lane_id = lane and other.claim_id is not null
                  ) > coalesce((job.settings ->> 'concurrencyPerKey')::integer, 1) then 'park'
                  when job.settings ? 'ratePerSecondPerKey' and not holdfast_internal.is_within_rate(lane, waiting.concurrency_key,
                    (job.settings ->> 'ratePerSecondPerKey')::double precision, row_number() over same_key, looked_at) then 'park'
                  else 'take' end as verdict,
             waiting.crashes > 0 and row_number() over (
               partition by waiting.crashes > 0 order by waiting.crashes > 1, waiting.priority desc, waiting.due_at
             ) > suspect_room as is_surplus
      from holdfast_internal.due_candidates(lane, wanted, in_the_way, suspect_room, may_take_deadly, untakeable, targets, floors, reset_floor, fair_after,
        limited, rooms, looked_at) as waiting
      left join holdfast_internal.jobs as job on job.id = waiting.job_id
      window same_key as (
        partition by waiting.concurrency_key, waiting.job_id = any (untakeable), coalesce(rooms[array_position(limited, waiting.job_id)] = 0, false)
        order by waiting.id
      )
    ), chained as materialized (
      -- The oldest run of an ordering key is claimed with the runs behind it, to be executed one after the other: the fewer keys wait, the more runs of
      -- each. Only runs that were candidates keep their due time: the floor must not pass the runs in between.
      select link.id, case when link.id in (select judged.id from judged) then link.due_at end as due_at, head.priority, greatest(head.age, link.age) as age
      from (select judged.*, count(*) over () as heads from judged where max_chain > 1 and verdict = 'take' and ordering_key is not null and is_plain) as head
      cross join lateral holdfast_internal.chain_behind(lane, head.ordering_key, head.id, least(max_chain, wanted / head.heads)::integer - 1,
        untakeable || limited, looked_at) as link
      where 2 * head.heads <= wanted
    ), every as (
      select chained.id, null::integer as job_id, chained.priority, chained.due_at, chained.age, null::text as fair_key, 'take' as verdict, true as has_order from chained
      union all
      select judged.id, judged.job_id, judged.priority, case when judged.is_plain then judged.due_at end, judged.age, judged.fair_key,
             case when judged.verdict = 'take' and judged.is_surplus then 'leave' else judged.verdict end, judged.ordering_key is not null
      from judged where judged.id not in (select chained.id from chained)
    )
    select array_agg(every.id order by every.id), array_agg(every.verdict order by every.id), array_agg(every.priority order by every.id),
           array_agg(case when every.due_at < 'infinity' then every.due_at end order by every.id), array_agg(every.age order by every.id),
           case when max(every.fair_key) is not null then array_agg(every.fair_key order by every.id) end,
           case when limited <> '{}' then array_agg(every.job_id order by every.id) end,
           array_agg(every.id) filter (where every.has_order and every.verdict = 'take'),
           (select count(*) from judged where judged.verdict = 'leave')
    into ids, verdicts, priorities, times, ages, turns, jobs, keyed_takes, found_in_the_way
    from every;
    -- At most once for each run in flight.
    exit when found_in_the_way <= in_the_way;
    in_the_way := found_in_the_way;
  end loop;
end $$;
