import { z } from 'zod'
import { HoldfastError } from '../core/errors.ts'
import { field } from '../core/field.ts'
import { queueName } from '../core/jobs/job-settings.ts'
import { problemsOf } from '../core/problem.ts'
import type { Database } from '../storage/database.ts'
import { listQueues, type QueueRow, readQueue, setQueueLimits, setQueueState } from '../storage/jobs.ts'
import { countOwedRuns } from '../storage/runs.ts'
import { translateError } from '../storage/translate-error.ts'

export interface QueueView {
  readonly name: string
  /** Runs at once over all workers; null: as many as they have slots. */
  readonly concurrency: number | null
  readonly ratePerSecond: number | null
  readonly state: 'active' | 'paused'
  readonly stateReason: string | null
  /** Failed runs that nobody has settled. */
  readonly deadLetters: number
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

/** Look at queues, limit and pause them. */
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
    throw new HoldfastError('queue_not_found', `There is no queue named "${name}".`, { queue: name })
  }

  /** How many runs it owes, waiting or running; counted, so ask for it now and then only. */
  async owed(name: string): Promise<number> {
    return this.#run((database) => countOwedRuns(database, name))
  }

  /** Limits over all workers; what is left out is lifted. Makes the queue known. */
  async limit(name: string, given: z.input<typeof limits>): Promise<void> {
    const parsed = limits.safeParse(given)
    const named = queueName.safeParse(name)
    if (!parsed.success || !named.success) {
      const problems = parsed.success ? [] : problemsOf(parsed.error)
      const listed = problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
      throw new HoldfastError('invalid_job', `The limits of the queue "${name}" are invalid. ${listed}`, {
        queue: name,
        problems,
      })
    }
    const { concurrency = null, ratePerSecond = null } = parsed.data
    await this.#run((database) =>
      setQueueLimits(database, name, { concurrency, ratePerSecond }, this.#options.actor),
    )
  }

  async pause(name: string, reason?: string): Promise<void> {
    await this.#run((database) =>
      setQueueState(database, name, 'paused', reason ?? null, this.#options.actor),
    )
  }

  async resume(name: string): Promise<void> {
    await this.#run((database) => setQueueState(database, name, 'active', null, this.#options.actor))
  }

  async #run<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#options.database())
    } catch (error) {
      throw translateError(error)
    }
  }
}

function toView({
  name,
  concurrency,
  rate_per_second,
  state,
  state_reason,
  dead_letters,
}: QueueRow): QueueView {
  return {
    name,
    concurrency,
    ratePerSecond: rate_per_second,
    state,
    stateReason: state_reason,
    deadLetters: dead_letters,
  }
}
