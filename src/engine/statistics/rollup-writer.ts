import { isTransientError } from '../../postgres/connection-error.ts'
import type { Database } from '../../storage/database.ts'
import { addRollups, type RollupRow, type SiteRollupRow } from '../../storage/rollups.ts'
import type { RollupCounter } from './rollup-counter.ts'
import type { SiteCounter } from './site-counter.ts'

export interface RollupWriterOptions {
  readonly database: Database
  readonly counter: RollupCounter
  readonly site: SiteCounter
  readonly incarnation: () => number
}

/** Entries (a lane's minute) per statement; writing those of ten thousand lanes with little traffic takes a minute. */
const maxMinutesPerFlush = 2000

/** Writes the counts. A flush that failed, or whose response was lost, is sent again unchanged, and counts once. */
export class RollupWriter {
  readonly #options: RollupWriterOptions
  #unsent: {
    readonly incarnation: number
    readonly number: number
    readonly rows: readonly RollupRow[]
    readonly site: readonly SiteRollupRow[]
  } | null = null
  #flushNumber = 0

  constructor(options: RollupWriterOptions) {
    this.#options = options
  }

  async flush(): Promise<void> {
    const { counter, site, database, incarnation } = this.#options
    if (this.#unsent === null) {
      if (counter.isEmpty && site.isEmpty) return
      this.#flushNumber += 1
      this.#unsent = {
        incarnation: incarnation(),
        number: this.#flushNumber,
        rows: counter.take(maxMinutesPerFlush),
        site: site.take(),
      }
    }
    const { rows, site: siteRows, number } = this.#unsent
    try {
      await addRollups(database, this.#unsent.incarnation, number, rows, siteRows)
    } catch (error) {
      // A flush whose data is rejected would be rejected again, and block all later flushes.
      if (!isTransientError(error)) this.#unsent = null
      throw error
    }
    this.#unsent = null
  }
}
