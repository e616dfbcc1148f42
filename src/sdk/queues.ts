import { z } from 'zod'
import { HoldfastError } from '../core/errors.ts'
import { field } from '../core/field.ts'
import { queueName } from '../core/jobs/job-settings.ts'
import { listProblems, parseBySchema } from '../core/problem.ts'
import type { Database } from '../storage/database.ts'
import { listQueues, type QueueRow, readQueue, setQueueLimits, setQueueState } from '../storage/jobs.ts'
import { countOwedRuns } from '../storage/runs.ts'
import { onDatabase } from './page.ts'

export interface QueueView {
  readonly name: string
  /** Maximum of concurrent runs over all workers; null: limited by their slots only. */
  readonly concurrency: number | null
  readonly ratePerSecond: number | null
  readonly state: 'active' | 'paused'
  readonly stateReason: string | null
  /** Number of open dead letters of this queue. */
  readonly deadLetters: number
  /** Number of unfinished runs, waiting or running; above 1,000 it may be a minute old. */
  readonly owed: number
  /** Since when the oldest run that could start now has waited; null if none waits. */
  readonly oldestWaitingSince: Date | null
  /** Estimated from the newest 200 attempts. */
  readonly succeededPerMinute: number
  /** Jobs with waiting runs that no live worker handles. */
  readonly unhandled: readonly UnhandledJob[]
}

export interface UnhandledJob {
  readonly job: string
  /** Number of runs among those examined: up to 5,000 of each kind. */
  readonly runs: number
  /** Since when the oldest of them has waited. */
  readonly since: Date
}

export interface QueuesOptions {
  readonly database: () => Database
  readonly actor: string
}

const limits = z.strictObject({
  concurrency: field.wholeNumber(1, 100_000).nullable().optional(),
  ratePerSecond: field.numberBetween(0.001, 100_000).nullable().optional(),
})

const maxListed = 1000

/** List, limit and pause queues. */
export class Queues {
  readonly #options: QueuesOptions

  constructor(options: QueuesOptions) {
    this.#options = options
  }

  async list(): Promise<QueueView[]> {
    const rows = await this.#run((database) => listQueues(database, maxListed))
    return rows.map(toView)
  }

  async get(name: string): Promise<QueueView> {
    const row = await this.#run((database) => readQueue(database, name))
    if (row !== undefined) return toView(row)
    throw new HoldfastError(
      'queue_not_found',
      `There is no queue named "${name}". List them with: holdfast queues list`,
      { queue: name },
    )
  }

  /** Number of unfinished runs, waiting or running, counted up to 100,000. Expensive: call it rarely. */
  async owed(name: string): Promise<number> {
    return this.#run((database) => countOwedRuns(database, name))
  }

  /** Sets limits over all workers; an omitted limit is removed. Creates the queue if it is unknown. */
  async limit(name: string, given: z.input<typeof limits>, reason?: string): Promise<void> {
    const parsed = parseBySchema(limits, given)
    const named = queueName.safeParse(name)
    if (!parsed.ok || !named.success) {
      const problems = parsed.ok ? [] : parsed.problems
      const listed = listProblems(problems)
      throw new HoldfastError('invalid_job', `The limits of the queue "${name}" are invalid. ${listed}`, {
        queue: name,
        problems,
      })
    }
    const { concurrency = null, ratePerSecond = null } = parsed.value
    await this.#run(
      (database) => setQueueLimits(database, name, { concurrency, ratePerSecond }, this.#options.actor),
      reason,
    )
  }

  async pause(name: string, reason?: string): Promise<void> {
    await this.#run((database) =>
      setQueueState(database, name, 'paused', reason ?? null, this.#options.actor),
    )
  }

  /** The reason is stored in the audit log only: an active queue has none. */
  async resume(name: string, reason?: string): Promise<void> {
    await this.#run((database) => setQueueState(database, name, 'active', null, this.#options.actor), reason)
  }

  async #run<Result>(work: (database: Database) => Promise<Result>, reason?: string): Promise<Result> {
    return onDatabase(this.#options.database(), work, reason)
  }
}

function toView({
  name,
  concurrency,
  rate_per_second,
  state,
  state_reason,
  dead_letters,
  owed,
  oldest_waiting_since,
  succeeded_per_minute,
  unhandled,
}: QueueRow): QueueView {
  return {
    name,
    concurrency,
    ratePerSecond: rate_per_second,
    state,
    stateReason: state_reason,
    deadLetters: dead_letters,
    owed,
    oldestWaitingSince: oldest_waiting_since,
    succeededPerMinute: succeeded_per_minute,
    unhandled: unhandled.map(({ job, runs, since }) => ({ job, runs, since: new Date(since) })),
  }
}
