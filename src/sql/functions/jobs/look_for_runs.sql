-- Fresh runs of all priorities after the cursors, the snapshot, and the id of the next transaction, in one statement so that they are consistent.
-- `are_takeable`: null if all are; `bundles`: the last id of the bundle of each run, null if no run is from a bundle; `keys`: their ordering keys, null
-- if no run has one (keyed runs with rows of their own are due, not fresh). `first_due_at`: the earliest due time of the runs that wait only for their
-- time; `has_others`: whether other runs wait that aren't fresh, now or for a later time.
-- Indexes: runs_fresh, run_bundles_pkey, runs_due, runs_targeted, runs_suspect, runs_aside, runs_fair.
create or replace function holdfast_internal.look_for_runs(
  lane integer, cursors bigint[], floors timestamptz[], max_rows integer, untakeable integer[], out seen pg_snapshot, out seen_next bigint, out ids bigint[],
  out jobs integer[], out priorities smallint[], out expiries timestamptz[], out are_takeable boolean[], out bundles bigint[],
  out keys text[], out first_due_at timestamptz, out has_others boolean
)
language plpgsql as $$
begin
  -- In a transaction that has an id already, next_transaction doesn't work.
  if pg_current_xact_id_if_assigned() is not null then
    raise exception 'a claim has to be the first statement of its transaction' using errcode = '25001';
  end if;
  select pg_current_snapshot(), holdfast_internal.next_transaction(pg_current_snapshot()), array_agg(fresh.id), array_agg(fresh.job_id),
         array_agg(fresh.priority), array_agg(fresh.expires_at),
         case when bool_and(fresh.is_takeable) is false then array_agg(fresh.is_takeable) end,
         case when max(fresh.bundle) is not null then array_agg(fresh.bundle) end,
         case when bool_or(fresh.key is not null) then array_agg(fresh.key) end,
         (
           select min(due.due_at) from generate_series(0, 3) as level cross join lateral (
             select run.due_at from holdfast_internal.runs as run
             where run.lane_id = lane and run.priority = level and run.due_at is not null and run.target is null and run.crashes = 0
               and run.due_at >= floors[level + 1] and run.due_at < 'infinity' and run.claim_id is null
             order by run.due_at limit 1
           ) as due
         ),
         exists (select from holdfast_internal.runs as run where run.lane_id = lane and run.target is not null)
         or exists (
           select from holdfast_internal.runs as run
           where run.lane_id = lane and run.crashes > 0 and run.due_at is not null and run.due_at < 'infinity' and run.claim_id is null
         )
         or exists (
           select from holdfast_internal.runs as run
           where run.lane_id = lane and run.is_aside and run.due_at = 'infinity' and run.claim_id is null
         )
         or holdfast_internal.next_fair_key(lane, null) is not null
  into seen, seen_next, ids, jobs, priorities, expiries, are_takeable, bundles, keys, first_due_at, has_others
  from (
    select candidate.*, candidate.job_id <> all (untakeable) as is_takeable
    from generate_series(3, 0, -1) as level cross join lateral (
      (
        select run.id, run.job_id, run.priority, run.expires_at, null::bigint as bundle, null::text as key from holdfast_internal.runs as run
        -- As a row comparison, not `priority = level … order by id`: for that the planner may choose the primary key, and an empty priority would
        -- cost a scan of the whole backlog.
        where run.lane_id = lane and run.due_at is null
          and (run.priority, run.id) > (level, cursors[level + 1]) and (run.priority, run.id) < (level + 1, 0)
        order by run.priority, run.id limit max_rows
      )
      union all
      (
        select each.id, bundle.job_id, bundle.priority, null, bundle.last_id, each.key
        from (
          select * from holdfast_internal.run_bundles as known
          where known.lane_id = lane
            and (known.priority, known.last_id) > (level, cursors[level + 1]) and (known.priority, known.last_id) < (level + 1, 0)
          order by known.priority, known.last_id limit max_rows
        ) as bundle
        cross join lateral (
          -- The series is limited to the size of the claim: it is evaluated completely, however few rows are read.
          select id, null::text as key from generate_series(
            greatest(bundle.first_id, cursors[level + 1] + 1), least(bundle.last_id, greatest(bundle.first_id, cursors[level + 1] + 1) + max_rows - 1)
          ) as id where bundle.ordering_keys is null
          union all
          select bundle.before_keys + listed.place, listed.key
          -- The array is unpacked once; a subscript would unpack it for each run.
          from unnest(bundle.ordering_keys) with ordinality as listed (key, place)
          where bundle.before_keys + listed.place >= greatest(bundle.first_id, cursors[level + 1] + 1)
        ) as each
        limit max_rows
      )
    ) as candidate
    order by candidate.priority desc, candidate.id limit max_rows
  ) as fresh;
end $$;
