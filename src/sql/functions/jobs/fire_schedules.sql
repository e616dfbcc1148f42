-- `fires`: one object per schedule {id, expected, next, times}. Each schedule is advanced by compare-and-swap, so that any number of nodes fires it
-- once, even if their time-zone data differ. Returns how many runs were enqueued.
create or replace function holdfast_internal.fire_schedules(fires jsonb) returns integer
language plpgsql as $$
declare
  given record;
  schedule holdfast_internal.schedules;
  job_name text;
  run_id bigint;
  run_options jsonb;
  made integer := 0;
begin
  for given in
    select * from jsonb_to_recordset(fires) as fire (id integer, expected timestamptz, next timestamptz, times timestamptz[]) order by id
  loop
    update holdfast_internal.schedules as stored set next_at = given.next, last_at = coalesce(given.times[cardinality(given.times)], stored.last_at)
    -- Compared in milliseconds, the precision in which nodes read the time.
    where stored.id = given.id and date_trunc('milliseconds', stored.next_at) = given.expected and not stored.is_paused
    returning * into schedule;
    if not found then
      continue;
    end if;
    select name into job_name from holdfast_internal.jobs where id = schedule.job_id;
    for place in 1..coalesce(cardinality(given.times), 0) loop
      if schedule.overlap = 'skip' and exists (select from holdfast_internal.runs where id = schedule.last_run_id) then
        update holdfast_internal.schedules set skipped = skipped + 1 where id = schedule.id;
        continue;
      end if;
      run_options := coalesce(schedule.options, '{}') || jsonb_build_object(
        'metadata', coalesce(schedule.options -> 'metadata', '{}')
          || jsonb_build_object('schedule', schedule.name, 'scheduledFor', to_char(given.times[place] at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      );
      if schedule.overlap = 'queue' then
        run_options := run_options || jsonb_build_object('orderingKey', 'schedule:' || schedule.name);
      end if;
      begin
        select accepted into run_id from holdfast_internal.accept_runs(job_name, array[schedule.payload::text], array[run_options]) as accepted;
        schedule.last_run_id := run_id;
        made := made + 1;
        update holdfast_internal.schedules set last_run_id = run_id, fired = fired + 1 where id = schedule.id;
      exception when others then
        -- A temporary failure (a deadlock, a full disk, a shutdown, a full queue) rolls back the whole round: the schedule fires later.
        if left(sqlstate, 2) in ('40', '53', '55', '57', '58') then
          raise;
        end if;
        -- A schedule that can't be fired (for example with unknown options) does not stop the others.
        perform holdfast_internal.audit('holdfast', 'schedule.failed', 'schedule:' || schedule.name,
                               jsonb_build_object('for', given.times[place], 'error', sqlerrm));
      end;
    end loop;
  end loop;
  return made;
end $$;
