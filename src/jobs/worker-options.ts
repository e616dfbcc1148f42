import type { Logger } from '../engine/logger.ts'
import type { RecoveredRuns } from '../storage/workers.ts'
import type { AnyJob } from './job.ts'
import type { KeeperLimits } from './keeper.ts'
import type { JobMiddleware } from './middleware.ts'
import type { WorkerLimits } from './worker-limits.ts'

export interface WorkerOptions {
  /** The database to claim from and settle in; not needed with `amqpUrl`. */
  readonly databaseUrl?: string | undefined
  /**
   * The broker that dispatches runs to the worker, like amqps://user:password@rabbit.example/vhost: then the worker has no database connection at
   * all.
   */
  readonly amqpUrl?: string | undefined
  /** Prefix of the names on the broker, as configured for the nodes; `holdfast` by default. */
  readonly amqpPrefix?: string | undefined
  /** The jobs that this worker handles. */
  readonly jobs: readonly AnyJob[]
  /** The queues to take runs from; those of the jobs by default. */
  readonly queues?: readonly string[]
  /** Name of the worker, also used to target it; the host name by default. */
  readonly name?: string
  readonly tags?: readonly string[]
  /** Maximum of handlers at once. */
  readonly concurrency?: number
  /** Where results wait while the database or the broker is unavailable; null: in memory only. */
  readonly journalFolder?: string | null
  readonly limits?: Partial<WorkerLimits>
  readonly keeper?: Partial<KeeperLimits>
  /**
   * Called when a run has ended and its result is committed; `holdfast.countRun` turns it into a metric. Must not throw. `durationMs` is that of the
   * last attempt, null if the run ended without one.
   */
  readonly onRunEnded?: (outcome: RunEnding, durationMs: number | null, job: string) => void
  /** Called when this worker has recovered runs of dead workers; `holdfast.countRecovered` turns it into a metric. Must not throw. */
  readonly onRecovered?: (recovered: RecoveredRuns) => void
  /**
   * Ends this process when a handler that doesn't yield has blocked the event loop for this long; the crash counts for that run alone. Default:
   * never. `holdfast worker` sets 60,000.
   */
  readonly endBlockedAfterMs?: number
  /** Code around every handler of this worker, the first outermost. */
  readonly middleware?: readonly JobMiddleware[]
  readonly logger?: Logger
}

export type RunEnding = 'succeeded' | 'dead' | 'expired' | 'cancelled'
