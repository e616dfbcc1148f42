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
 * Lanes taken from a node that died without a clean stop record their deliveries before sending them, until as many have been settled as can have
 * been in flight when the node died. A delivery that was in flight at a second crash is sent alone from then on. So a third crash identifies a
 * single delivery, which becomes a dead letter instead of killing node after node.
 */
export class CarefulMode {
  readonly #options: CarefulModeOptions
  readonly #crashes = new Map<number, number>()
  /** Deliveries that are recorded and not yet settled. */
  readonly #recorded = new Set<number>()
  readonly #waiting: Delivery[] = []
  readonly #waitingAlone: Delivery[] = []
  readonly #lanesByShard = new Map<number, Set<Lane>>()
  /** By lane: how many more deliveries to record before sending. */
  readonly #left = new WeakMap<Lane, number>()
  #settled: number[] = []
  #isRunning = false
  #isAskedAgain = false

  constructor(options: CarefulModeOptions) {
    this.#options = options
  }

  crashesOf(deliveryId: number): number {
    return this.#crashes.size === 0 ? 0 : (this.#crashes.get(deliveryId) ?? 0)
  }

  /** True while deliveries of this lane are recorded before they are sent. */
  isCareful(lane: Lane): boolean {
    return this.#left.has(lane)
  }

  get isActive(): boolean {
    return this.#lanesByShard.size > 0
  }

  /** These shards were taken from a node that died; their busy lanes start in careful mode. `maxOut`: the maximum that can have been in flight. */
  async enter(
    shards: readonly number[],
    lanes: readonly { readonly lane: Lane; readonly maxOut: number }[],
  ): Promise<void> {
    for (const { deliveryId, crashes } of await readSuspects(this.#options.database, shards)) {
      this.#crashes.set(deliveryId, crashes)
    }
    for (const shard of shards) this.#lanesByShard.set(shard, new Set())
    for (const { lane, maxOut } of lanes) {
      if (lane.pending === 0) continue
      this.#lanesByShard.get(lane.shard)?.add(lane)
      this.#left.set(lane, maxOut)
    }
    await this.#clearFinishedShards()
  }

  start(delivery: Delivery): void {
    const isAlone = suspectTreatment(this.crashesOf(delivery.id)) === 'alone'
    ;(isAlone ? this.#waitingAlone : this.#waiting).push(delivery)
    this.#schedule()
  }

  /** The delivery is settled, so it didn't crash this process. */
  finished(delivery: Delivery): void {
    const wasSuspect = this.#crashes.delete(delivery.id)
    const wasRecorded = this.#recorded.delete(delivery.id)
    if (!wasSuspect && !wasRecorded) return
    this.#settled.push(delivery.id)
    this.#schedule()
  }

  /** The delivery returned to the line without an attempt. */
  returned(delivery: Delivery): void {
    if (this.#recorded.has(delivery.id)) this.finished(delivery)
  }

  /** One delivery fewer that may have been in flight at the crash. */
  laneSettled(lane: Lane): void {
    const left = this.#left.get(lane)
    if (left === undefined) return
    if (lane.pending > 0 && left > 1) {
      this.#left.set(lane, left - 1)
    } else {
      this.#left.delete(lane)
      this.#lanesByShard.get(lane.shard)?.delete(lane)
    }
    this.#schedule()
  }

  /** Forgets everything: other nodes own the lanes. */
  reset(): void {
    this.#crashes.clear()
    this.#recorded.clear()
    this.#waiting.length = 0
    this.#waitingAlone.length = 0
    this.#lanesByShard.clear()
    this.#settled = []
  }

  #schedule(): void {
    // Deliveries that are settled during a write are written by the next one.
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
