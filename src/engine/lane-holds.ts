import type { Database } from '../storage/database.ts'
import { setHoldReason } from '../storage/read-lanes.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { Lane } from './lane.ts'
import type { Logger } from './logger.ts'

export interface LaneHoldsOptions {
  readonly database: Database
  readonly transports: TransportRegistry
  readonly logger: Logger
  /** Sees to it that a failure is logged and nothing else. */
  tolerate(work: Promise<unknown>): Promise<void>
}

/** Lanes whose settings can't be used: says so once, in the log and in the database, and takes it back when they can. */
export class LaneHolds {
  readonly #options: LaneHoldsOptions
  readonly #held = new Set<number>()

  constructor(options: LaneHoldsOptions) {
    this.#options = options
  }

  hold(lane: Lane, reason: string): void {
    if (this.#held.has(lane.id)) return
    this.#held.add(lane.id)
    this.#options.logger.warn({ endpoint: lane.name, reason }, 'The lane is held')
    this.#write(lane, reason)
  }

  /** What the last owner could not use, for want of a key or a newer version, this one perhaps can. */
  review(lane: Lane): void {
    if (lane.policy(this.#options.transports) === null) {
      this.hold(lane, lane.holdReason ?? 'its settings are unusable')
      return
    }
    this.#held.add(lane.id)
    this.clear(lane)
  }

  clear(lane: Lane): void {
    if (this.#held.delete(lane.id)) this.#write(lane, null)
  }

  #write(lane: Lane, reason: string | null): void {
    void this.#options.tolerate(setHoldReason(this.#options.database, lane.id, reason))
  }
}
