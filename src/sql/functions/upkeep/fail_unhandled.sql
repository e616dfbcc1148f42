-- Fails those of these runs that still wait, while claims of their queues are locked out. Indexes: runs_pkey.
create or replace function holdfast_internal.fail_unhandled(lonely holdfast_internal.jobs, ids bigint[], waited interval, me integer) returns integer
language plpgsql as $$
declare
  lane integer;
  bundled constant bigint[] := array(select each from unnest(ids) as each where not exists (select from holdfast_internal.runs as run where run.id = each));
  chosen bigint[];
  failed integer := 0;
begin
  -- In the order of their ids, like all transactions that lock several queues.
  for lane in select distinct each from unnest(lonely.queue_id || lonely.former_queue_ids) as each order by each loop
    perform pg_advisory_xact_lock(hashtext('holdfast.claims'), lane);
  end loop;
  if exists (select from holdfast_internal.jobs where id = lonely.id and unhandled_since is null) then
    return 0;
  end if;
  -- Runs of bundles get rows of their own.
  perform holdfast_internal.take_out(each) from unnest(bundled) as each;
  select array_agg(run.id) into chosen from (
    select run.id, run.due_at from holdfast_internal.runs as run where run.id = any (ids) and run.claim_id is null order by run.id for update skip locked
  ) as run
  where (run.due_at is null or run.due_at = 'infinity' or run.due_at <= clock_timestamp() - waited or run.id = any (bundled))
    and holdfast_internal.holder_of_run(run.id) is null;
  if chosen is not null then
    update holdfast_internal.runs set due_at = 'infinity' where id = any (chosen);
    failed := holdfast_internal.fail_runs(chosen, 'zombie', 'zombie_detected',
      format('Zombie detected: no live worker has handled the job "%s" since %s', lonely.name, to_char(lonely.unhandled_since at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
      me, false);
  end if;
  return failed;
end $$;
