import { suspectTreatment } from '../core/jobs/crash-suspects.ts'
import type { Database } from '../storage/database.ts'
import { clearSuspicion, forgetSuspects, readSuspects, recordSuspects } from '../storage/suspects.ts'
import type { Delivery } from './delivery.ts'
import type { Lane } from './lane.ts'
import type { Logger } from './logger.ts'

export interface CarefulModeOptions {
  readonly database: Database
  readonly logger: Logger
  incarnation(): number
  start(delivery: Delivery): void
  release(delivery: Delivery): void
  requestRead(lane: Lane): void
}

/**
 * After an unclean death its lanes' deliveries are written down before they are dispatched, until as many have been settled as can
 * have been out when the node died. A delivery that was out at a second crash flies alone from then on, so that the third
 * crash names one culprit, and that one becomes a dead letter instead of killing node after node.
 */
export class CarefulMode {
  readonly #options: CarefulModeOptions
  readonly #crashes = new Map<number, number>()
  /** Written down and not yet settled. */
  readonly #recorded = new Set<number>()
  readonly #waiting: Delivery[] = []
  readonly #waitingAlone: Delivery[] = []
  readonly #lanesByShard = new Map<number, Set<Lane>>()
  #settled: number[] = []
  #isRunning = false
  #isAskedAgain = false

  constructor(options: CarefulModeOptions) {
    this.#options = options
  }

  crashesOf(deliveryId: number): number {
    return this.#crashes.size === 0 ? 0 : (this.#crashes.get(deliveryId) ?? 0)
  }

  get isActive(): boolean {
    return this.#lanesByShard.size > 0
  }

  /** These shards were taken from a node that died; their busy lanes start carefully. */
  async enter(shards: readonly number[], lanes: readonly Lane[]): Promise<void> {
    for (const { deliveryId, crashes } of await readSuspects(this.#options.database, shards)) {
      this.#crashes.set(deliveryId, crashes)
    }
    for (const shard of shards) this.#lanesByShard.set(shard, new Set())
    for (const lane of lanes) {
      if (lane.pending > 0) this.#lanesByShard.get(lane.shard)?.add(lane)
      else lane.carefulLeft = 0
    }
    await this.#clearFinishedShards()
  }

  start(delivery: Delivery): void {
    const isAlone = suspectTreatment(this.crashesOf(delivery.id)) === 'alone'
    ;(isAlone ? this.#waitingAlone : this.#waiting).push(delivery)
    this.#schedule()
  }

  /** The delivery is settled: it hasn't killed us. */
  finished(delivery: Delivery): void {
    const wasSuspect = this.#crashes.delete(delivery.id)
    const wasRecorded = this.#recorded.delete(delivery.id)
    if (!wasSuspect && !wasRecorded) return
    this.#settled.push(delivery.id)
    this.#schedule()
  }

  /** The delivery is back in the line, untried. */
  returned(delivery: Delivery): void {
    if (this.#recorded.has(delivery.id)) this.finished(delivery)
  }

  /** One delivery fewer that may have been out at the crash. */
  laneSettled(lane: Lane): void {
    if (lane.carefulLeft === 0) return
    lane.carefulLeft = lane.pending === 0 ? 0 : lane.carefulLeft - 1
    if (lane.carefulLeft === 0) this.#lanesByShard.get(lane.shard)?.delete(lane)
    this.#schedule()
  }

  /** Forgets everything: the lanes have gone to somebody else. */
  reset(): void {
    this.#crashes.clear()
    this.#recorded.clear()
    this.#waiting.length = 0
    this.#waitingAlone.length = 0
    this.#lanesByShard.clear()
    this.#settled = []
  }

  #schedule(): void {
    // What is settled while a run writes to the database is for the next one.
    this.#isAskedAgain = this.#isRunning
    if (this.#isRunning) return
    this.#isRunning = true
    setImmediate(() => {
      this.#isAskedAgain = false
      void this.#run().finally(() => {
        this.#isRunning = false
        const isStuck =
          this.#waiting.length === 0 && (this.#waitingAlone.length === 0 || this.#recorded.size > 0)
        if (!isStuck || this.#isAskedAgain) this.#schedule()
      })
    })
  }

  async #run(): Promise<void> {
    const batch = this.#nextBatch()
    try {
      const settled = [...this.#settled]
      if (settled.length > 0) await forgetSuspects(this.#options.database, settled)
      this.#settled = this.#settled.slice(settled.length)
      if (batch.length > 0) {
        await recordSuspects(
          this.#options.database,
          this.#options.incarnation(),
          batch.map((delivery) => ({ id: delivery.id, laneId: delivery.lane.id })),
        )
      }
      await this.#clearFinishedShards()
    } catch (error) {
      this.#options.logger.warn({ error: String(error) }, 'Careful mode could not write to the database')
      for (const delivery of batch) {
        this.#recorded.delete(delivery.id)
        this.#options.release(delivery)
        this.#options.requestRead(delivery.lane)
      }
      return
    }
    for (const delivery of batch) this.#options.start(delivery)
  }

  #nextBatch(): Delivery[] {
    const ordinary = this.#waiting.splice(0)
    const alone = ordinary.length === 0 && this.#recorded.size === 0 ? this.#waitingAlone.splice(0, 1) : []
    const batch = [...ordinary, ...alone]
    for (const delivery of batch) this.#recorded.add(delivery.id)
    return batch
  }

  async #clearFinishedShards(): Promise<void> {
    const finished = [...this.#lanesByShard].filter(([, lanes]) => lanes.size === 0).map(([shard]) => shard)
    if (finished.length === 0) return
    await clearSuspicion(this.#options.database, this.#options.incarnation(), finished)
    for (const shard of finished) this.#lanesByShard.delete(shard)
  }
}
