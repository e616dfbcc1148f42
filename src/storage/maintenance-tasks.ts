import type { Database } from './database.ts'
import type { Leader } from './leadership.ts'

export type TaskSchedule =
  | { readonly everyMs: number }
  | { readonly cron: string; readonly timezone?: string }

export interface MaintenanceStatus {
  readonly name: string
  readonly schedule: TaskSchedule
  readonly state: 'idle' | 'running' | 'failing'
  readonly node: string | null
  readonly term: number | null
  readonly lastStartedAt: Date | null
  readonly lastDurationMs: number | null
  readonly lastSucceededAt: Date | null
  readonly lastFailedAt: Date | null
  readonly lastError: string | null
  /** Consecutive failures. */
  readonly failures: number
  /** The summary of the last successful run. */
  readonly summary: Record<string, unknown> | null
  readonly nextRunAt: Date
}

export interface LeaderStatus {
  readonly term: number
  readonly node: string | null
  readonly since: Date | null
}

export interface TaskEnding {
  readonly name: string
  readonly durationMs: number
  readonly summary: object | null
  readonly error: string | null
  /** A fixed time, or this long after the start of the run that has just ended. */
  readonly next: { readonly at: Date } | { readonly afterStartMs: number }
}

/** Index: maintenance_tasks_pkey. */
export async function registerTasks(
  database: Database,
  leader: Leader,
  tasks: readonly { name: string; schedule: TaskSchedule; firstRunAt: Date | null }[],
): Promise<void> {
  await database.query(
    { name: 'register_tasks', text: 'select holdfast_internal.register_tasks($1, $2, $3)' },
    [leader.incarnation, leader.term, JSON.stringify(tasks)],
  )
}

/** Marks the tasks that are due as running, and returns their names. A table of a dozen rows. */
export async function startDueTasks(
  database: Database,
  leader: Leader,
  busy: readonly string[],
  retryMs: number,
): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    {
      name: 'start_due_tasks',
      text: 'select name from holdfast_internal.start_due_tasks($1, $2, $3, $4) as name',
    },
    [leader.incarnation, leader.term, busy, retryMs],
  )
  return rows.map(({ name }) => name)
}

/** Index: maintenance_tasks_pkey. */
export async function finishTask(database: Database, leader: Leader, ending: TaskEnding): Promise<void> {
  const { name, durationMs, summary, error, next } = ending
  await database.query(
    { name: 'finish_task', text: 'select holdfast_internal.finish_task($1, $2, $3, $4, $5, $6, $7, $8)' },
    [
      leader.incarnation,
      leader.term,
      name,
      Math.round(durationMs),
      summary === null ? null : JSON.stringify(summary),
      error,
      'at' in next ? next.at : null,
      'at' in next ? null : next.afterStartMs,
    ],
  )
}

/** Null: the task no longer runs. Index: maintenance_tasks_pkey. */
export async function rescheduleTask(
  database: Database,
  leader: Leader,
  name: string,
  schedule: TaskSchedule | null,
  nextRunAt: Date | null,
): Promise<void> {
  await database.query(
    { name: 'reschedule_task', text: 'select holdfast_internal.reschedule_task($1, $2, $3, $4, $5)' },
    [leader.incarnation, leader.term, name, schedule === null ? null : JSON.stringify(schedule), nextRunAt],
  )
}

/** Returns false if there is no such task. Index: maintenance_tasks_pkey. */
export async function requestTask(database: Database, name: string, actor: string): Promise<boolean> {
  const rows = await database.query<{ is_known: boolean }>(
    { name: 'run_task', text: 'select holdfast.run_task($1, $2) as is_known' },
    [name, actor],
  )
  return rows[0]?.is_known ?? false
}

/** One row. */
export async function readLeader(
  database: Database,
): Promise<LeaderStatus & { readonly incarnation: number | null }> {
  const [leader] = await database.query<LeaderStatus & { readonly incarnation: number | null }>(
    { name: 'read_leader', text: 'select term, incarnation, node, since from holdfast_internal.leadership' },
    [],
  )
  return leader ?? { term: 0, incarnation: null, node: null, since: null }
}

/** Every task, by name: a dozen rows. */
export async function readMaintenance(
  database: Database,
): Promise<{ leader: LeaderStatus; tasks: MaintenanceStatus[] }> {
  const [current, tasks] = await Promise.all([
    readLeader(database),
    database.query<MaintenanceStatus>(
      {
        name: 'read_maintenance',
        text: `
          select name, schedule,
                 case when running_since is not null then 'running' when failures > 0 then 'failing' else 'idle' end as state,
                 node, term, last_started_at as "lastStartedAt", last_duration_ms as "lastDurationMs",
                 last_succeeded_at as "lastSucceededAt", last_failed_at as "lastFailedAt", last_error as "lastError", failures, summary,
                 next_run_at as "nextRunAt"
          from holdfast_internal.maintenance_tasks order by name limit 1000`,
      },
      [],
    ),
  ])
  const { incarnation: _, ...leader } = current
  return { leader, tasks }
}
