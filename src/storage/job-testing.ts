import type { Database } from './database.ts'
import { rewindFloors } from './keep-runs.ts'

export interface OwedRunRow {
  readonly input: unknown
  readonly attempt: number
  readonly priority: number
  readonly dueAt: Date | null
}

/** For tests: the unfinished runs of a job, oldest first. Expands all bundles. */
export async function readOwedRuns(database: Database, job: string): Promise<OwedRunRow[]> {
  return database.query<OwedRunRow>(
    {
      name: 'read_owed_runs',
      text: `
        select message.body as input, run.attempt, run.priority, run.due_at as "dueAt"
        from holdfast_internal.owed_runs as run
        join holdfast_internal.jobs as job on job.id = run.job_id
        join holdfast_internal.messages as message on message.id = coalesce(run.message_id, run.id)
        where job.name = $1 order by run.id limit 1000`,
    },
    [job],
  )
}

/** For tests: runs that could be executed now. Expands all bundles. */
export async function countDueRuns(database: Database): Promise<number> {
  const rows = await database.query<{ due: number }>(
    {
      name: 'count_due_runs',
      text: `select count(*)::integer as due from holdfast_internal.owed_runs where due_at is null or due_at <= now() or claim_id is not null`,
    },
    [],
  )
  return rows[0]?.due ?? 0
}

/** For tests: moves all due times closer by this much. */
export async function shiftTime(database: Database, ms: number): Promise<void> {
  await database.query(
    {
      name: 'shift_run_times',
      text: `
        update holdfast_internal.runs set due_at = due_at - span, expires_at = expires_at - span, ttl_at = ttl_at - span
        from (select make_interval(secs => $1::float8 / 1000) as span) as passed
        where due_at < 'infinity' or expires_at is not null`,
    },
    [ms],
  )
  await database.query(
    {
      name: 'shift_schedule_times',
      text: `
        update holdfast_internal.schedules set next_at = date_trunc('milliseconds', next_at - make_interval(secs => $1::float8 / 1000))`,
    },
    [ms],
  )
  await rewindFloors(database)
}
