import { randomUUID } from 'node:crypto'
import type { Database } from '../storage/database.ts'
import { abandonProbe, startProbe } from '../storage/read-lanes.ts'
import type { DatabaseClock } from './clock.ts'
import type { Delivery } from './delivery.ts'
import type { Lane } from './lane.ts'
import type { Logger } from './logger.ts'
import type { NodeObserver } from './observer.ts'

export interface ProbesOptions {
  readonly database: Database
  readonly databaseClock: DatabaseClock
  readonly logger: Logger
  readonly observer: Required<NodeObserver>
  /** Sends a delivery for which a slot is reserved. */
  start(delivery: Delivery): void
  /** Releases the slot and returns the delivery without an attempt. */
  release(delivery: Delivery): void
  /** The lane's row may have changed. */
  refresh(lanes: readonly Lane[]): void
}

/** Asks the database for the one probe that a half-open circuit allows over all nodes. */
export class Probes {
  readonly #options: ProbesOptions

  constructor(options: ProbesOptions) {
    this.#options = options
  }

  /** Sends this delivery, for which a slot is reserved, as the probe, or returns it if another probe was granted. */
  async send(lane: Lane, delivery: Delivery, timeoutMs: number): Promise<void> {
    const token = randomUUID()
    lane.probeInFlight = token
    let version: number | null = null
    try {
      version = await startProbe(this.#options.database, lane.id, token, timeoutMs)
    } catch (error) {
      this.#options.logger.warn({ endpoint: lane.name, error: String(error) }, 'A probe could not be started')
    }
    if (version === null) {
      // Another probe is in flight, or the circuit has been reset: read it again.
      lane.probeInFlight = null
      this.#options.release(delivery)
      this.#options.refresh([lane])
      return
    }
    lane.setBreaker({
      ...lane.breaker,
      version,
      state: 'half_open',
      probeExpiresAtMs: this.#options.databaseClock.nowMs() + timeoutMs,
    })
    this.#options.observer.circuitChanged(lane.name, 'half_open')
    delivery.probeToken = token
    delivery.breakerVersion = version
    this.#options.start(delivery)
  }

  /** The lane was lost or shut between the grant and the sending; the next probe needn't wait for the token to expire. */
  async abandon(lane: Lane, token: string): Promise<void> {
    lane.probeInFlight = null
    try {
      await abandonProbe(this.#options.database, lane.id, token)
    } catch (error) {
      this.#options.logger.warn(
        { endpoint: lane.name, error: String(error) },
        'A probe could not be released',
      )
    }
  }
}
