import { isTransientError } from '../postgres/connection-error.ts'
import type { Logger } from './logger.ts'

/** Runs work in the background: errors are logged, and the node continues. */
export class Background {
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
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
      'An unexpected error occurred in the background; the node continues',
    )
  }
}
