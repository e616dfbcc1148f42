import type { PoolClient } from 'pg'
import type { Database } from '../../storage/database.ts'
import type { TaskSchedule } from '../../storage/maintenance-tasks.ts'
import type { Logger } from '../logger.ts'

/** Summary of a run, e.g. `{ purged: 12 }`. */
export type TaskSummary = Record<string, unknown>

/**
 * A task that is repeated beside deliveries and runs. `runBy` says which process runs it: the leading node for all, one process in each round, or
 * every process for itself.
 */
interface Task {
  /** Lower-case words with hyphens; shown to users. */
  readonly name: string
  /** Default: a minute. A run that takes longer counts as failed, and its signal is aborted. */
  readonly timeoutMs?: number
}

export interface MaintenanceContext {
  /** For reads, and for writes that are harmless if they are late. */
  readonly database: Database
  readonly logger: Logger
  /** The database's time when the run began. */
  readonly nowMs: number
  /** Commits the changes of `work` if this node still leads. Throws and changes nothing if another node has taken over. */
  readonly fenced: <Result>(work: (client: PoolClient) => Promise<Result>) => Promise<Result>
}

/** A task that the leading node repeats for all nodes. */
export interface MaintenanceTask extends Task {
  readonly runBy?: 'leader'
  /** A function, because it may change while the node runs; null: the task doesn't run. */
  readonly schedule: TaskSchedule | (() => TaskSchedule | null)
  /** Returns the summary of the run. Must be safe to run again after a crash half-way. */
  run(context: MaintenanceContext, signal: AbortSignal): Promise<TaskSummary>
}

/** A task that the first process to ask, a node or a worker, runs in each interval. */
export interface RoundTask extends Task {
  readonly runBy: 'round'
  /** Milliseconds, or the name of the setting with the interval. */
  readonly every: number | 'zombie_check_ms'
  run(signal: AbortSignal): Promise<void>
}

/** A task that every process runs for itself. */
export interface OwnTask extends Task {
  readonly runBy: 'each'
  readonly every: number
  run(signal: AbortSignal): Promise<void>
}
