import type { PoolClient } from 'pg'
import type { Database } from '../../storage/database.ts'
import type { TaskSchedule } from '../../storage/maintenance-tasks.ts'
import type { Logger } from '../logger.ts'

export interface MaintenanceContext {
  /** For reading, and for writes that harm nobody when they come late. */
  readonly database: Database
  readonly logger: Logger
  /** The database's time when the run began. */
  readonly nowMs: number
  /** Commits what `work` did, if this node still leads. Throws when another has taken over: then nothing was changed. */
  readonly fenced: <Result>(work: (client: PoolClient) => Promise<Result>) => Promise<Result>
}

/** Something that one node does for all of them, again and again. */
export interface MaintenanceTask {
  /** Lower-case words with hyphens; people see it. */
  readonly name: string
  /** A function's may change while the node runs; null: not at all. */
  readonly schedule: TaskSchedule | (() => TaskSchedule | null)
  /** Left out: a minute. A run that takes longer counts as failed, and its signal is aborted. */
  readonly timeoutMs?: number
  /** Returns what to say of the run, e.g. `{ purged: 12 }`. Must be safe to run again after a crash half-way. */
  run(context: MaintenanceContext, signal: AbortSignal): Promise<Record<string, unknown>>
}
