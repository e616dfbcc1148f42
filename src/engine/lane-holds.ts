import type { Database } from '../storage/database.ts'
import { setHoldReason } from '../storage/read-lanes.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { Lane } from './lane.ts'
import type { Logger } from './logger.ts'

export interface LaneHoldsOptions {
  readonly database: Database
  readonly transports: TransportRegistry
  readonly logger: Logger
  /** Runs work in the background; a failure is only logged. */
  tolerate(work: Promise<unknown>): Promise<void>
}

/**
 * Lanes with unusable settings: reports each lane once, in the log and in the database, and withdraws the report when the settings are usable again.
 */
export class LaneHolds {
  readonly #options: LaneHoldsOptions
  readonly #held = new Set<number>()

  constructor(options: LaneHoldsOptions) {
    this.#options = options
  }

  hold(lane: Lane, reason: string): void {
    if (this.#held.has(lane.id)) return
    this.#held.add(lane.id)
    this.#options.logger.warn({ endpoint: lane.name, reason }, 'An endpoint is held: nothing is sent to it')
    this.#write(lane, reason)
  }

  /** This node may be able to use settings that the last owner, without a key or with an older version, could not. */
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
