import { isTransientError } from '../postgres/connection-error.ts'
import type { Lane } from './lane.ts'
import type { LaneTable } from './lane-table.ts'

export interface LaneRefresherOptions {
  readonly lanes: LaneTable
  isStopping(): boolean
  report(error: unknown): void
}

const retryMs = 250

/** Reads lanes again, all requested lanes in one statement; repeats until the read succeeds. */
export class LaneRefresher {
  readonly #options: LaneRefresherOptions
  readonly #asked = new Set<Lane>()
  #isAtIt = false

  constructor(options: LaneRefresherOptions) {
    this.#options = options
  }

  refresh(lanes: readonly Lane[]): void {
    for (const lane of lanes) this.#asked.add(lane)
    if (this.#isAtIt) return
    this.#isAtIt = true
    void this.#readAll()
  }

  async #readAll(): Promise<void> {
    const { lanes: table } = this.#options
    while (this.#asked.size > 0 && !this.#options.isStopping()) {
      const lanes = [...this.#asked]
      this.#asked.clear()
      try {
        await table.refresh(lanes.map((lane) => lane.id))
      } catch (error) {
        if (!isTransientError(error)) this.#options.report(error)
        // Also lanes that the table has removed: their last deliveries may have to be cancelled.
        for (const lane of lanes) this.#asked.add(lane)
        await new Promise((resolve) => setTimeout(resolve, retryMs))
      }
    }
    // Set in the same turn as the last check: a request that comes after it must start a new loop.
    this.#isAtIt = false
  }
}
