import { HoldfastError } from '../core/errors.ts'
import {
  type CircuitChangeRow,
  listCircuitChanges,
  listCircuitChangesOf,
} from '../storage/circuit-changes.ts'
import type { Database } from '../storage/database.ts'
import { onDatabase } from './page.ts'

/** A circuit opened or closed. `probes`: how many probes failed until the next change. */
export type CircuitChange = CircuitChangeRow

export interface CircuitChangeQuery {
  readonly endpoint?: string | undefined
  /** Only changes older than this one. */
  readonly beforeId?: number | undefined
  readonly limit?: number | undefined
}

const maxListed = 1000

/** When circuits opened and closed. */
export class CircuitChanges {
  readonly #database: () => Database

  constructor(options: { readonly database: () => Database }) {
    this.#database = options.database
  }

  /**
   * Newest first; at most a thousand.
   *
   * @example await holdfast.circuitChanges.list({ endpoint: 'crm' })
   */
  async list(query: CircuitChangeQuery = {}): Promise<CircuitChange[]> {
    const { endpoint, beforeId = Number.MAX_SAFE_INTEGER, limit = maxListed } = query
    const maxRows = Math.min(limit, maxListed + 1)
    const rows = await onDatabase(this.#database(), (database) =>
      endpoint === undefined
        ? listCircuitChanges(database, beforeId, maxRows)
        : listCircuitChangesOf(database, endpoint, beforeId, maxRows),
    )
    if (rows !== undefined) return rows
    throw new HoldfastError(
      'endpoint_not_found',
      `There is no endpoint named "${endpoint}". List them with: holdfast endpoints list`,
      { endpoint },
    )
  }
}
