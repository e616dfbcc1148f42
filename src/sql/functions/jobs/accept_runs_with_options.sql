create or replace function holdfast_internal.accept_runs_with_options(
  job integer, job_name text, lane integer, settings jsonb, bodies text[], run_options jsonb[]
) returns bigint[]
language plpgsql as $$
declare
  total integer := cardinality(bodies);
  -- Not now(), the start of the transaction: claims may have read past that time already.
  enqueued_at timestamptz := clock_timestamp();
  -- Runs of a job with limits of its own are set aside for the job from the beginning.
  is_limited constant boolean := settings ?| '{concurrency,ratePerSecond}';
  ids bigint[];
  is_repeated boolean[];
begin
  select array_agg(nextval('holdfast_internal.ids')) into ids from generate_series(1, total);
  select keys.ids, keys.options, keys.are_repeated into ids, run_options, is_repeated
  from holdfast_internal.claim_keys_of_runs(job, bodies, run_options, ids) as keys;
  -- Runs that choose no worker themselves are targeted at the worker that the job's settings name.
  if settings ? 'worker' then
    run_options := array(
      select case when option ?| '{worker,requireTags}' then option else coalesce(option, '{}') || jsonb_build_object('worker', settings ->> 'worker') end
      from unnest(ids, run_options) with ordinality as run (id, option, at) order by at
    );
  end if;

  insert into holdfast_internal.messages (id, size, is_run, type, tenant, correlation_id, criticality, headers, metadata, body)
  select run.id, octet_length(body), true, job_name, option ->> 'tenant', option ->> 'correlationId',
         coalesce(holdfast_internal.criticality_code(option ->> 'criticality'), 1), option -> 'headers',
         nullif(coalesce(option -> 'metadata', '{}')
           || case when option ? 'tags' then jsonb_build_object('tags', option -> 'tags') else '{}' end
           || case when option ? 'requireTags' then jsonb_build_object('requireTags', option -> 'requireTags') else '{}' end
           || case when option ? 'reason' then jsonb_build_object('reason', option -> 'reason') else '{}' end, '{}'),
         body::json
  from unnest(ids, bodies, run_options, is_repeated) as run (id, body, option, is_known)
  where not is_known;

  insert into holdfast_internal.runs (id, lane_id, job_id, priority, criticality, due_at, expires_at, ttl_at, ttl_ms, ordering_key, concurrency_key,
                             target, fair_key, is_aside)
  select run.id, lane, job, coalesce((option ->> 'priority')::smallint, (settings ->> 'priority')::smallint, 0),
         coalesce(holdfast_internal.criticality_code(option ->> 'criticality'), 1),
         case when option ?| '{runAt,delayMs,ttlMs,orderingKey,concurrencyKey,worker,requireTags,onConflict}' then
           greatest(enqueued_at, (option ->> 'runAt')::timestamptz, enqueued_at + make_interval(secs => (option ->> 'delayMs')::double precision / 1000))
         -- Without a due time: it waits by its fair key, or is set aside for its job.
         when option ? 'fairKey' or is_limited then 'infinity'
         end,
         coalesce((option ->> 'expiresAt')::timestamptz,
                  enqueued_at + make_interval(secs => (settings ->> 'expiresAfterMs')::double precision / 1000)),
         -- Runs have no TTL unless it is asked for, except those targeted at one worker.
         greatest(enqueued_at, (option ->> 'runAt')::timestamptz, enqueued_at + make_interval(secs => (option ->> 'delayMs')::double precision / 1000))
           + make_interval(secs => coalesce(
               (option ->> 'ttlMs')::double precision,
               case when option ? 'worker' then coalesce((settings ->> 'ttlMs')::double precision, holdfast_internal.setting_integer('worker_queue_ttl_ms')) end
             ) / 1000),
         (option ->> 'ttlMs')::double precision, option ->> 'orderingKey', option ->> 'concurrencyKey',
         coalesce('worker:' || (option ->> 'worker'),
                  -- Not evaluated without tags: the aggregate takes 2 µs a run.
                  case when option ? 'requireTags' then
                    'tags:' || (select string_agg(tag, ',' order by tag) from jsonb_array_elements_text(option -> 'requireTags') as tag)
                  end),
         option ->> 'fairKey',
         is_limited and option ?| '{runAt,delayMs,ttlMs,orderingKey,concurrencyKey,worker,requireTags,onConflict,fairKey}' is not true
  from unnest(ids, run_options, is_repeated) as run (id, option, is_known)
  where not is_known;
  return ids;
end $$;
