import { HoldfastError } from '../core/errors.ts'
import type { Database } from '../storage/database.ts'
import {
  listQuarantine,
  type QuarantinedResult,
  releaseQuarantined,
  retryQuarantined,
} from '../storage/quarantine.ts'
import { translateError } from '../storage/translate-error.ts'

export type { QuarantinedResult } from '../storage/quarantine.ts'

export interface QuarantineOptions {
  readonly database: () => Database
  readonly actor: string
}

/**
 * Results that PostgreSQL refused to store. Each is retried automatically, at growing intervals. Until it is stored, its delivery waits, and so do
 * later deliveries of its ordering key.
 */
export class Quarantine {
  readonly #options: QuarantineOptions

  constructor(options: QuarantineOptions) {
    this.#options = options
  }

  /** Newest first. */
  async list(
    page: { readonly beforeId?: number | null | undefined; readonly limit?: number } = {},
  ): Promise<QuarantinedResult[]> {
    return this.#asking(() =>
      listQuarantine(this.#options.database(), page.beforeId ?? null, page.limit ?? 50),
    )
  }

  /** Retries to store the result now. Returns whether that succeeded. */
  async retry(id: number): Promise<boolean> {
    const settled = await this.#asking(() =>
      retryQuarantined(this.#options.database(), id, this.#options.actor),
    )
    if (settled === null) throw notFound(id)
    return settled
  }

  /** Discards the result. Its delivery, if still pending, is sent again. */
  async release(id: number): Promise<void> {
    const isReleased = await this.#asking(() =>
      releaseQuarantined(this.#options.database(), id, this.#options.actor),
    )
    if (!isReleased) throw notFound(id)
  }

  async #asking<Result>(ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask()
    } catch (error) {
      throw translateError(error)
    }
  }
}

function notFound(id: number): HoldfastError {
  return new HoldfastError(
    'quarantined_result_not_found',
    `There is no result ${id} in quarantine; it may have been stored in the meantime. List them with: holdfast quarantine list`,
    { id },
  )
}
