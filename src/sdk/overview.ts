import { readTotals, type Totals } from '../storage/changes.ts'
import type { Database } from '../storage/database.ts'
import { type NodeRow, type OverviewRow, readLiveNodes, readOverview } from '../storage/overview.ts'
import { translateError } from '../storage/translate-error.ts'
import { version } from '../version.ts'

export interface OverviewReport {
  readonly version: string
  readonly nodes: readonly NodeRow[]
  readonly totals: Totals
  /** Those that need somebody first; at most 200. */
  readonly endpoints: readonly OverviewRow[]
}

const maxEndpoints = 200

/** Everything at a glance. */
export class Overview {
  readonly #database: () => Database

  constructor(options: { readonly database: () => Database }) {
    this.#database = options.database
  }

  async get(): Promise<OverviewReport> {
    const database = this.#database()
    try {
      const [nodes, totals, endpoints] = await Promise.all([
        readLiveNodes(database),
        readTotals(database),
        readOverview(database, maxEndpoints),
      ])
      return { version, nodes, totals, endpoints }
    } catch (error) {
      throw translateError(error)
    }
  }
}
