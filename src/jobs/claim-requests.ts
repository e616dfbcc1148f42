import type { Logger } from '../engine/logger.ts'
import { returnClaim } from '../storage/claim-runs.ts'
import type { Database } from '../storage/database.ts'
import type { WorkBoard } from './work-board/work-board.ts'

interface LostRequest {
  readonly worker: number
  readonly request: number
}

/** Numbers a worker's claims, and returns the runs of claims whose response was lost. */
export class ClaimRequests {
  readonly #database: Database
  readonly #logger: Logger
  readonly #board: WorkBoard
  /** Slots on the work board of claims without a response, by claim number. */
  readonly #slots = new Map<number, number>()
  #last = 0
  #lost: LostRequest[] = []

  constructor(database: Database, board: WorkBoard, logger: Logger) {
    this.#database = database
    this.#board = board
    this.#logger = logger
  }

  next(): number {
    this.#last += 1
    this.#slots.set(this.#last, this.#board.requests.add(this.#last))
    return this.#last
  }

  /** The response has arrived. False: the heartbeat's thread has already returned the runs of this claim, because the event loop was blocked. */
  answered(request: number): boolean {
    const slot = this.#slots.get(request)
    if (slot === undefined) return true
    this.#slots.delete(request)
    return this.#board.requests.take(slot)
  }

  /** Marks a claim that may have taken runs although its response was lost. */
  lose(worker: number, request: number): void {
    this.answered(request)
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
        this.#logger.warn({ runs: returned }, 'Returned runs of a claim whose response was lost')
    }
  }
}
