import { formatId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import type { Database } from '../storage/database.ts'
import { translateError } from '../storage/translate-error.ts'
import { drainWorker, listWorkers, undrainWorker } from '../storage/workers.ts'

export interface WorkerView {
  /** Changes when the process restarts, or after the worker was declared dead. */
  readonly id: number
  readonly name: string
  readonly version: string
  readonly host: string
  readonly pid: number
  readonly queues: readonly string[]
  readonly tags: readonly string[]
  readonly concurrency: number
  readonly state: 'active' | 'draining' | 'stopping'
  readonly running: number
  readonly startedAt: Date
  readonly lastBeatAt: Date
  /** Since when a handler that doesn't yield has blocked the worker's event loop; null if none does. */
  readonly blockedSince: Date | null
  /** The runs of which one blocks the event loop. */
  readonly blockedBy: readonly string[]
}

export interface WorkersOptions {
  readonly database: () => Database
  readonly actor: string
}

const maxListed = 1000

/** The live workers of the installation. */
export class Workers {
  readonly #options: WorkersOptions

  constructor(options: WorkersOptions) {
    this.#options = options
  }

  async list(): Promise<WorkerView[]> {
    try {
      const rows = await listWorkers(this.#options.database(), maxListed)
      return rows.map(({ incarnation, started_at, beat_at, blocked_at, blocked_runs, ...rest }) => ({
        ...rest,
        id: incarnation,
        startedAt: started_at,
        lastBeatAt: beat_at,
        blockedSince: blocked_at,
        blockedBy: (blocked_runs ?? []).map((run) => formatId('run', run)),
      }))
    } catch (error) {
      throw translateError(error)
    }
  }

  /** The worker claims nothing more and finishes its runs; its process keeps running. */
  async drain(id: number): Promise<void> {
    if (!(await this.#change(drainWorker, id))) {
      throw new HoldfastError(
        'worker_not_found',
        `There is no active worker ${id}. List them with: holdfast workers list`,
        { worker: id },
      )
    }
  }

  /** Lets a draining worker claim again. */
  async undrain(id: number): Promise<void> {
    if (!(await this.#change(undrainWorker, id))) {
      throw new HoldfastError(
        'worker_not_found',
        `There is no draining worker ${id}. List them with: holdfast workers list`,
        { worker: id },
      )
    }
  }

  async #change(change: typeof drainWorker, id: number): Promise<boolean> {
    try {
      return await change(this.#options.database(), id, this.#options.actor)
    } catch (error) {
      throw translateError(error)
    }
  }
}
