-- Stores new runs, except those of accept_claimed_run and redrives. `run_options` is null or has one entry (or null) per body. A run and its message
-- have the same id. For a single plain run each statement counts, so one statement reads everything that is needed. Returns `ids` in the order of the
-- bodies or, if the ids ascend in that order, `run_set`, the set of them.
create or replace function holdfast_internal.accept_run_bodies(
  job_name text, bodies text[], run_options jsonb[], out ids bigint[], out run_set int8multirange
)
language plpgsql set enable_seqscan = off set jit = off as $$
declare
  -- Assigned before the ids: a claim with an older snapshot knows that these ids are beyond its horizon. And before sleeping workers are looked up: a
  -- worker that falls asleep unnoticed keeps polling until this transaction has ended.
  own_transaction xid8 := pg_current_xact_id();
  total integer := coalesce(cardinality(bodies), 0);
  facts record;
  worst record;
  -- Of runs that have this option and no other.
  ordering_keys text[];
begin
  select job.id, job.queue_id, job.settings,
         life.last_value <> holdfast_internal.current_life() or holdfast_internal.id_at(clock_timestamp()) - ids.last_value > 4096 * 5000 as are_ids_behind,
         (select value::text::bigint from holdfast_internal.settings where name = 'max_payload_bytes') as max_bytes,
         (select value::text::bigint from holdfast_internal.settings where name = 'max_pending')
           between 1 and holdfast_internal.owed_overall() + total - 1 as is_too_much,
         exists (select from holdfast_internal.workers where is_asleep and job.queue_id = any (lanes)) as has_sleepers
  into facts
  from holdfast_internal.jobs as job cross join holdfast_internal.ids cross join holdfast_internal.server_life as life
  where job.name = job_name;
  if not found then
    -- No worker has declared this job yet: its runs wait until one does.
    perform holdfast_internal.introduce_job(job_name, '{}');
    select accepted.ids, accepted.run_set into ids, run_set from holdfast_internal.accept_run_bodies(job_name, bodies, run_options) as accepted;
    return;
  end if;
  if total = 0 then
    return;
  end if;
  if run_options is not null then
    if cardinality(run_options) <> total then
      raise exception 'there are % bodies but % sets of options', total, cardinality(run_options) using errcode = 'HF002';
    end if;
    if total > 1 then
      ordering_keys := holdfast_internal.ordering_keys_of(run_options);
    end if;
  end if;
  if run_options is not null and ordering_keys is null then
    -- An option that is null counts as absent, as for messages.
    if exists (select from unnest(run_options) as given (option) where jsonb_typeof(option) = 'object' and jsonb_path_exists(option, '$.* ? (@ == null)')) then
      run_options := array(
        select case when jsonb_typeof(option) = 'object' then (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(option) where value <> 'null') else option end
        from unnest(run_options) with ordinality as given (option, at) order by at
      );
    end if;
    select at, problem into worst
    from unnest(run_options) with ordinality as given (option, at), holdfast_internal.run_option_problem(option) as problem
    where option is not null and problem is not null
    order by at limit 1;
    if found then
      raise exception 'run %: %', worst.at, worst.problem using errcode = 'HF002';
    end if;
  end if;
  if (total = 1 and octet_length(bodies[1]) > facts.max_bytes)
    or (total > 1 and (select max(octet_length(body)) from unnest(bodies) as body) > facts.max_bytes) then
    select octet_length(body) as bytes, at into worst
    from unnest(bodies) with ordinality as given (body, at) where octet_length(body) > facts.max_bytes limit 1;
    if found then
      raise exception 'the payload of run % takes % bytes; the limit is %', worst.at, worst.bytes, facts.max_bytes
        using errcode = 'HF003', hint = 'Send a reference to the data instead of the data, or raise max_payload_bytes.';
    end if;
  end if;
  if facts.is_too_much then
    perform holdfast_internal.check_bound(total);
  end if;

  perform holdfast_internal.commit_durably();
  if facts.are_ids_behind then
    perform holdfast_internal.advance_ids();
  end if;
  if (run_options is null or ordering_keys is not null) and total > 1 and not facts.settings ?| '{expiresAfterMs,concurrency,ratePerSecond,worker}'
    -- Within a key, age decides before priority: all bundles with keys have the same one.
    and (ordering_keys is null or not facts.settings ? 'priority') then
    run_set := holdfast_internal.store_bundles(facts.id, job_name, facts.queue_id, coalesce((facts.settings ->> 'priority')::integer, 0), own_transaction,
      bodies, ordering_keys);
  elsif run_options is null and not facts.settings ?| '{priority,expiresAfterMs,concurrency,ratePerSecond,worker}' then
    with stored as (
      insert into holdfast_internal.messages (id, size, is_run, type, body)
      values (nextval('holdfast_internal.ids'), octet_length(bodies[1]), true, job_name, bodies[1]::json) returning id
    )
    insert into holdfast_internal.runs as owed (id, published_by, lane_id, job_id)
    select stored.id, own_transaction, facts.queue_id, facts.id from stored
    returning array[owed.id] into ids;
  else
    ids := holdfast_internal.accept_runs_with_options(facts.id, job_name, facts.queue_id, facts.settings, bodies, run_options);
  end if;
  if facts.has_sleepers then
    perform holdfast_internal.notify('holdfast_queue_' || facts.queue_id, '');
  end if;
end $$;
