-- A recovery sweep: parked runs of active jobs become due if their key is free or they have none. Checks a bounded number of parked runs, and the
-- next call continues after them. Index: runs_parked.
create or replace function holdfast_internal.unpark_stranded(max_rows integer) returns integer
language plpgsql as $$
declare
  start bigint := coalesce((select position from holdfast_internal.keeper_rounds where name = 'stranded'), 0);
  reached bigint;
  stranded bigint[];
  freed integer;
begin
  with parked as materialized (
    select id, lane_id, job_id, ordering_key, concurrency_key from holdfast_internal.runs
    where due_at = 'infinity' and claim_id is null and not is_aside and fair_key is null and id > start order by id limit max_rows
  )
  select case when count(*) = max_rows then max(run.id) else 0 end, array_agg(run.id) filter (where job.state = 'active'
    and not exists (
      select from holdfast_internal.runs as older
      where older.ordering_key = run.ordering_key and older.lane_id = run.lane_id and older.id < run.id
    )
    and (run.concurrency_key is null or (
      select count(*) from holdfast_internal.runs as other
      where other.concurrency_key = run.concurrency_key and other.lane_id = run.lane_id and other.claim_id is not null
    ) < coalesce((job.settings ->> 'concurrencyPerKey')::integer, 1)))
  into reached, stranded from parked as run left join holdfast_internal.jobs as job on job.id = run.job_id;
  perform holdfast_internal.keep_position('stranded', reached);
  with free as materialized (
    select id from holdfast_internal.runs where id = any (stranded) and due_at = 'infinity' and claim_id is null for update skip locked
  )
  update holdfast_internal.runs as run set due_at = clock_timestamp() where run.id = any (array(select id from free));
  get diagnostics freed = row_count;
  if freed > 0 then
    perform holdfast_internal.ring_workers(id) from holdfast_internal.queues;
  end if;
  return freed;
end $$;
