import type { Logger } from '../engine/logger.ts'
import { returnClaim } from '../storage/claim-runs.ts'
import type { Database } from '../storage/database.ts'

interface LostRequest {
  readonly worker: number
  readonly request: number
}

/** Numbers a worker's claims, and gives back what those took whose answer didn't arrive. */
export class ClaimRequests {
  readonly #database: Database
  readonly #logger: Logger
  #last = 0
  #lost: LostRequest[] = []

  constructor(database: Database, logger: Logger) {
    this.#database = database
    this.#logger = logger
  }

  next(): number {
    this.#last += 1
    return this.#last
  }

  /** This one may have taken runs that nobody knows of. */
  lose(worker: number, request: number): void {
    this.#lost.push({ worker, request })
  }

  get hasLost(): boolean {
    return this.#lost.length > 0
  }

  async giveBack(): Promise<void> {
    for (let [lost] = this.#lost; lost !== undefined; [lost] = this.#lost) {
      const returned = await returnClaim(this.#database, lost.worker, lost.request)
      this.#lost.shift()
      if (returned > 0)
        this.#logger.warn({ runs: returned }, 'Gave back what a claim took whose answer was lost')
    }
  }
}
