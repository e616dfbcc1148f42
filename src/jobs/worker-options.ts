import type { Logger } from '../engine/logger.ts'
import type { RecoveredRuns } from '../storage/workers.ts'
import type { AnyJob } from './job.ts'
import type { KeeperLimits } from './keeper.ts'
import type { JobMiddleware } from './middleware.ts'
import type { WorkerLimits } from './worker-limits.ts'

export interface WorkerOptions {
  /** The database that it claims from and settles in; not needed with `amqpUrl`. */
  readonly databaseUrl?: string | undefined
  /** The broker that dispatches runs to it, like amqps://user:password@rabbit.example/vhost: then it has no database connection at all. */
  readonly amqpUrl?: string | undefined
  /** What the names on the broker begin with, as the nodes are configured; `holdfast` when left out. */
  readonly amqpPrefix?: string | undefined
  /** The jobs that this worker handles. */
  readonly jobs: readonly AnyJob[]
  /** The queues to take from; those of the jobs when left out. */
  readonly queues?: readonly string[]
  /** How the worker is called, and aimed at; the host's name when left out. */
  readonly name?: string
  readonly tags?: readonly string[]
  /** Handlers at once. */
  readonly concurrency?: number
  /** Where results wait when the database or the broker is away; null: in memory only. */
  readonly journalFolder?: string | null
  readonly limits?: Partial<WorkerLimits>
  readonly keeper?: Partial<KeeperLimits>
  /**
   * A run came to its end, and it is committed; `holdfast.countRun` makes a metric of it. Must not throw. `durationMs` is of its last attempt, null
   * when it ended without one.
   */
  readonly onRunEnded?: (outcome: RunEnding, durationMs: number | null, job: string) => void
  /** Runs were recovered here from workers that died; `holdfast.countRecovered` makes a metric of it. Must not throw. */
  readonly onRecovered?: (recovered: RecoveredRuns) => void
  /**
   * Ends this process when a handler that doesn't yield has blocked the event loop for so long; the crash counts for that run alone. Left out: never.
   * `holdfast worker` sets 60,000.
   */
  readonly endBlockedAfterMs?: number
  /** Code around every handler of this worker, the first outermost. */
  readonly middleware?: readonly JobMiddleware[]
  readonly logger?: Logger
}

export type RunEnding = 'succeeded' | 'dead' | 'expired' | 'cancelled'
