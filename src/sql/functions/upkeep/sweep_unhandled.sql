-- Fails runs that wait for a worker where their job says so (`onUnhandled: "fail"`): those of one job that no live worker has had for the threshold (null: the
-- setting) as each check has seen it, and that have waited as long themselves. A worker that joins with the job ends that time (set_worker_jobs_v2), so that
-- what waits in a backlog that workers serve is never a zombie. Returns how many. Indexes: jobs_pkey; see find_runs.
create or replace function holdfast_internal.sweep_unhandled(threshold_ms double precision, max_rows integer, me integer) returns integer
language plpgsql as $$
declare
  max_scanned constant integer := 50000;
  waited constant interval := make_interval(secs => coalesce(threshold_ms, holdfast_internal.setting_integer('zombie_threshold_ms')) / 1000);
  lonely holdfast_internal.jobs;
  reached bigint;
  ids bigint[];
begin
  perform holdfast_internal.note_unhandled();
  for lonely in
    select * from holdfast_internal.jobs where unhandled_since <= clock_timestamp() - waited and state = 'active' order by unhandled_since, id
  loop
    reached := 9223372036854775807;
    while reached is not null loop
      select look.ids, look.scanned_to into ids, reached from holdfast_internal.find_runs(
        jsonb_build_object('job', lonely.name, 'state', 'waiting', 'to', clock_timestamp() - waited), reached, max_rows, max_scanned) as look;
      if cardinality(ids) > 0 then
        return holdfast_internal.fail_unhandled(lonely, ids, waited, me);
      end if;
    end loop;
  end loop;
  return 0;
end $$;
