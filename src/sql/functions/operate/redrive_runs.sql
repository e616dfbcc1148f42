-- The part of redrive_letters for queues: these letters, which are open and locked by the caller, are enqueued again in the order of their original
-- runs, with the same keys and the same target workers; a TTL starts again.
create or replace function holdfast_internal.redrive_runs(open_ids bigint[], actor text, is_resend boolean)
returns table (letter_id bigint, delivery_id bigint)
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
declare
  lane integer;
  site_ttl_ms constant double precision := holdfast_internal.setting_integer('worker_queue_ttl_ms');
begin
  perform holdfast_internal.prepare_ids();
  return query
  with numbered as materialized (
    select ordered.*, nextval('holdfast_internal.ids') as new_id from (
      select letter.*, job.id as job_id, job.queue_id, clock_timestamp() as owed_at, coalesce(letter.ttl_ms, case
               when starts_with(letter.target, 'worker:') then coalesce((job.settings ->> 'ttlMs')::double precision, site_ttl_ms)
             end) as new_ttl_ms
      -- With `offset 0`: see redrive_letters.
      from (select * from holdfast_internal.dead_letters where id = any (open_ids) offset 0) as letter
      join holdfast_internal.queues as queue on queue.id = letter.lane_id
      cross join lateral (
        select type from holdfast_internal.messages where id = letter.message_id
        union all select type from holdfast_internal.messages_kept where id = letter.message_id limit 1
      ) as message
      join holdfast_internal.jobs as job on job.name = message.type
      order by letter.delivery_id
    ) as ordered
  ), owed as (
    insert into holdfast_internal.runs (id, message_id, lane_id, job_id, priority, criticality, due_at, ttl_at, ttl_ms, dead_letter_id, ordering_key,
                               concurrency_key, target)
    select new_id, message_id, queue_id, job_id, priority, criticality, owed_at, owed_at + make_interval(secs => new_ttl_ms / 1000), ttl_ms, id,
           ordering_key, concurrency_key, target
    from numbered
  )
  update holdfast_internal.dead_letters as letter set
    state = 'redriven', redrives = letter.redrives + 1, redriven_delivery_id = new_id, settled_by = actor,
    action = case when is_resend then 'resend' else 'redrive' end,
    resends = letter.resends + case when is_resend then 1 else 0 end,
    resent_at = case when is_resend then clock_timestamp() else letter.resent_at end
  from numbered where letter.id = numbered.id
  returning letter.id, letter.redriven_delivery_id;
  for lane in
    select distinct run.lane_id from holdfast_internal.dead_letters as letter join holdfast_internal.runs as run on run.id = letter.redriven_delivery_id
    where letter.id = any (open_ids)
  loop
    perform holdfast_internal.ring_workers(lane);
  end loop;
end $$;
