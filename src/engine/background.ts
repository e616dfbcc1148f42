import { isTransientError } from '../postgres/connection-error.ts'
import type { Logger } from './logger.ts'

/** Work that nobody waits for: what goes wrong in it is logged, and the node goes on. */
export class Background {
  readonly #logger: Logger
  readonly #timers: NodeJS.Timeout[] = []
  #isStopped = false

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Runs again and again, one run at a time; a failure is logged and the next run comes all the same. */
  every(intervalMs: number, task: () => Promise<void>): void {
    const place = this.#timers.length
    const next = (): void => {
      if (this.#isStopped) return
      this.#timers[place] = setTimeout(() => {
        void this.tolerate(task()).finally(next)
      }, intervalMs)
    }
    next()
  }

  async tolerate(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.report(error)
    }
  }

  report(error: unknown): void {
    const details = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    this.#logger[isTransientError(error) ? 'warn' : 'error'](
      details,
      'Something went wrong; the node goes on',
    )
  }

  /** Nothing runs again; what is under way ends by itself. */
  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
  }
}
